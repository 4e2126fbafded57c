// SPDX-License-Identifier: Apache-2.0
// What the compiler cannot see and nobody labelled is not trusted.
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
