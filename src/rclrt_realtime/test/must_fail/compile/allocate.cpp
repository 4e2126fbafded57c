// SPDX-License-Identifier: Apache-2.0
// A real-time function does not allocate.
// REASON: must not allocate or deallocate memory
#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  delete new int(1);
#else
  const int on_the_stack = 1;
  static_cast<void>(on_the_stack);
#endif
}
