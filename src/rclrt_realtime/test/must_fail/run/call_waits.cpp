// SPDX-License-Identifier: Apache-2.0
// A function that waits, behind a pointer, even if it would return at once.
// REASON: Call to blocking function
#include "rclrt/realtime/clock.hpp"

void (*volatile g_hidden)(std::int64_t) = &rclrt::realtime::sleep_until_ns;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  g_hidden(0);
#else
  rclrt::realtime::monotonic_now_ns();
#endif
}

int main() { cycle(); }
