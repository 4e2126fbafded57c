// SPDX-License-Identifier: Apache-2.0
// Takes releases off the schedules of timers.
#pragma once

#include <cstdint>

#include "access.hpp"

namespace rclrt::executor {

// Called by the thread that releases the timer, or while no thread does.

/// Restarts the schedule.
RCLRT_SETUP inline void start_schedule(TimerCallback& timer, std::int64_t epoch_ns) noexcept {
  schedule_of(timer).start(timer.first_release_ns(epoch_ns), 0);
}

/// Returns whether releases that become due while the timer's callback runs may be made when the
/// callback has ended. Two conditions must hold. The callback excludes itself. And the instances
/// are the same either way: each release is an instance (up to the queue depth), or only the first
/// one is.
inline bool may_be_released_late(TimerCallback& timer) noexcept RCLRT_NONBLOCKING {
  const OverrunPolicy policy = timer.timer().overrun;
  return (policy == OverrunPolicy::kCatchUp ||
          (policy == OverrunPolicy::kSkip && state_of(timer).credits.count() == 1)) &&
         timer.overload() == Overload::kQueue &&
         group_of(timer).type() == GroupType::kMutuallyExclusive;
}

/// Takes the due release off the schedule and counts the skipped ones, not the release itself.
detail::TimerSchedule::Release take_release(TimerCallback& timer, std::int64_t now_ns,
                                            OverrunPolicy policy) noexcept RCLRT_NONBLOCKING;

/// Takes the due release off the schedule and returns an instance for it; skipped releases are
/// counted. If there is no credit, returns nullptr; this release and all other due ones are counted
/// as dropped.
Instance* expire(TimerCallback& timer, std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::executor
