// SPDX-License-Identifier: Apache-2.0
// The braces of a log format match.
// REASON: log_format_has_an_unmatched_brace
#include "rclrt/realtime/logging.hpp"

void cycle(rclrt::realtime::ThreadLogger& log, int number) noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  log.info("cycle {", number);
#else
  log.info("cycle {}", number);
#endif
}
