// SPDX-License-Identifier: Apache-2.0
// RCLRT_SETUP also applies to a function with a body that the compiler sees to be harmless.
// REASON: must not call non-'nonblocking' function 'configure'
#include "rclrt/realtime/safety.hpp"

int g_value = 0;
RCLRT_SETUP void configure(int value) { g_value = value; }
int use() noexcept RCLRT_NONBLOCKING { return g_value; }

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  configure(1);
#else
  use();
#endif
}
