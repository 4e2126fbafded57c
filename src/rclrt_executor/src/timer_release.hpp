// SPDX-License-Identifier: Apache-2.0
// Takes releases off the schedules of timers.
#pragma once

#include <cstdint>

#include "access.hpp"

namespace rclrt::executor {

// Called by the thread that keeps the time for the timer, or while no thread does.

/// Starts the schedule anew.
RCLRT_SETUP inline void start_schedule(TimerCallback& timer, std::int64_t epoch_ns) noexcept {
  schedule_of(timer).start(timer.first_release_ns(epoch_ns), 0);
}

/// Returns whether releases that come while the timer's callback runs may as well be released when
/// it has ended: it excludes itself, and either way each of them is an instance as far as the
/// credits reach, or the first of them alone.
inline bool may_be_released_late(TimerCallback& timer) noexcept RCLRT_NONBLOCKING {
  const OverrunPolicy policy = timer.timer().overrun;
  return (policy == OverrunPolicy::kCatchUp ||
          (policy == OverrunPolicy::kSkip && state_of(timer).credits.count() == 1)) &&
         timer.overload() == Overload::kQueue &&
         group_of(timer).type() == GroupType::kMutuallyExclusive;
}

/// Takes the due release off the schedule and counts what it skipped, not the release itself.
detail::TimerSchedule::Release take_release(TimerCallback& timer, std::int64_t now_ns,
                                            OverrunPolicy policy) noexcept RCLRT_NONBLOCKING;

/// Takes the due release off the schedule, counts what is skipped and returns the instance; nullptr
/// when there is no credit for it: it and all others due are then counted drops.
Instance* expire(TimerCallback& timer, std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::executor
