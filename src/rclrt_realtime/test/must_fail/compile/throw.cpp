// SPDX-License-Identifier: Apache-2.0
// A real-time function does not throw.
// REASON: must not throw or catch exceptions
#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  throw 1;
#else
  return;
#endif
}
