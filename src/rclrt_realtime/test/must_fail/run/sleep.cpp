// SPDX-License-Identifier: Apache-2.0
// Sleeping.
// REASON: Intercepted call to real-time unsafe function `nanosleep`
#include <time.h>

#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  const timespec pause{0, 1};
  nanosleep(&pause, nullptr);
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
#endif
}

int main() { cycle(); }
