// SPDX-License-Identifier: Apache-2.0
// A std::function may allocate.
// REASON: must not call non-'nonblocking' destructor 'std::function<int ()>::~function'
#include <functional>

#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  int a[4] = {};
  const std::function<int()> erased = [a] { return a[0]; };
  erased();
#else
  int a[4] = {};
  const auto direct = [a] { return a[0]; };
  direct();
#endif
}
