// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::realtime {

/// As sched_setscheduler and pthread attributes take it.
inline int native_policy(Policy policy) {
  switch (policy) {
    case Policy::kFifo:
      return SCHED_FIFO;
    case Policy::kRoundRobin:
      return SCHED_RR;
    case Policy::kOther:
      break;
  }
  return SCHED_OTHER;
}

}  // namespace rclrt::realtime
