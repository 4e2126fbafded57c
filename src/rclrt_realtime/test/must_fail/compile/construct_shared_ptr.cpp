// SPDX-License-Identifier: Apache-2.0
// Making a shared pointer allocates; using one does not.
// REASON: must not call non-'nonblocking' function 'std::make_shared<int
#include <memory>

#include "rclrt/realtime/safety.hpp"

extern const std::shared_ptr<int> made_in_time;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  std::make_shared<int>(1);
#else
  ++*made_in_time;
#endif
}
