// SPDX-License-Identifier: Apache-2.0
// The first call would construct the variable, under a lock.
// REASON: must not have static local variables
#include "rclrt/realtime/safety.hpp"

struct Expensive {
  Expensive();
};
extern Expensive g_constructed_before_main;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  static Expensive first_use;
  static_cast<void>(first_use);
#else
  static_cast<void>(&g_constructed_before_main);
#endif
}
