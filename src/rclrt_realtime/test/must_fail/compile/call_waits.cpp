// SPDX-License-Identifier: Apache-2.0
// A function labelled RCLRT_WAITS sleeps.
// REASON: must not call non-'nonblocking' function 'rclrt::realtime::sleep_until_ns'
#include "rclrt/realtime/clock.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  rclrt::realtime::sleep_until_ns(0);
#else
  rclrt::realtime::monotonic_now_ns();
#endif
}
