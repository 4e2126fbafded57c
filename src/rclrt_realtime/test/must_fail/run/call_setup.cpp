// SPDX-License-Identifier: Apache-2.0
// A set-up function, behind a pointer.
// REASON: Call to blocking function
#include "rclrt/realtime/safety.hpp"

int g_value = 0;
RCLRT_SETUP void configure(int value) { g_value = value; }
int use() noexcept RCLRT_NONBLOCKING { return g_value; }
void (*volatile g_hidden)(int) = &configure;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  g_hidden(1);
#else
  use();
#endif
}

int main() { cycle(); }
