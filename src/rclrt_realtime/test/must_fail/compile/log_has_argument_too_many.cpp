// SPDX-License-Identifier: Apache-2.0
// A log call has a placeholder for each argument.
// REASON: log_format_has_fewer_placeholders_than_arguments
#include "rclrt/realtime/logging.hpp"

void cycle(rclrt::realtime::ThreadLogger& log, int number) noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  log.info("cycle {}", number, number);
#else
  log.info("cycle {}", number);
#endif
}
