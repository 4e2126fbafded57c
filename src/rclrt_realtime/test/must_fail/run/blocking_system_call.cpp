// SPDX-License-Identifier: Apache-2.0
// A system call that may sleep.
// REASON: Intercepted call to real-time unsafe function `write`
#include <unistd.h>

#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  static_cast<void>(write(STDOUT_FILENO, "", 0));
#else
  static_cast<void>(getpid());
#endif
}

int main() { cycle(); }
