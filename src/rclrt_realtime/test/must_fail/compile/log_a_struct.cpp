// SPDX-License-Identifier: Apache-2.0
// A log argument must be a value that can be copied as bytes and formatted later.
// REASON: a log argument is an integer
#include "rclrt/realtime/logging.hpp"

struct Pose {
  double x, y;
};

void cycle(rclrt::realtime::ThreadLogger& log, const Pose& pose) noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  log.info("at {}", pose);
#else
  log.info("at {} {}", pose.x, pose.y);
#endif
}
