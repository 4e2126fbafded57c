// SPDX-License-Identifier: Apache-2.0
// A log call has an argument for each placeholder.
// REASON: log_format_has_more_placeholders_than_arguments
#include "rclrt/realtime/logging.hpp"

void cycle(rclrt::realtime::ThreadLogger& log, int number) noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  log.info("{} of {}", number);
#else
  log.info("{} of {}", number, number);
#endif
}
