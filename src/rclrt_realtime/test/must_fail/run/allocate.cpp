// SPDX-License-Identifier: Apache-2.0
// Allocation behind a call that the compiler cannot follow.
// REASON: Intercepted call to real-time unsafe function `malloc`
#include <cstdlib>

#include "rclrt/realtime/safety.hpp"

void* volatile g_block = nullptr;
void hidden() {
  g_block = std::malloc(100);
  std::free(g_block);
}
void (*volatile g_hidden)() = &hidden;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  g_hidden();
#else
  RCLRT_TRUST("an example of what is let through", g_hidden());
#endif
}

int main() { cycle(); }
