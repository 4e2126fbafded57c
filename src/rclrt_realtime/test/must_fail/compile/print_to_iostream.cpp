// SPDX-License-Identifier: Apache-2.0
// A stream allocates, locks and writes.
// REASON: must not call non-'nonblocking' function 'std::operator<<
#include <iostream>

#include "rclrt/realtime/safety.hpp"

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  std::cout << "late";
#else
  return;
#endif
}
