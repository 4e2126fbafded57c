// SPDX-License-Identifier: Apache-2.0
// The compiler does not trust an unlabelled function that it cannot see.
// REASON: must not call non-'nonblocking' function 'unlabelled'
#include "rclrt/realtime/safety.hpp"

void unlabelled() noexcept;
void labelled() noexcept RCLRT_NONBLOCKING;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  unlabelled();
#else
  labelled();
#endif
}
