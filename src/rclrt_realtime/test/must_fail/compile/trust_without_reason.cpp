// SPDX-License-Identifier: Apache-2.0
// Trust needs a reason.
// REASON: RCLRT_TRUST needs a reason
#include "rclrt/realtime/safety.hpp"

void unlabelled() noexcept;

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  RCLRT_TRUST(, unlabelled());
#else
  RCLRT_TRUST("an example of a reason", unlabelled());
#endif
}
