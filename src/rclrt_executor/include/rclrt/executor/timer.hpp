// SPDX-License-Identifier: Apache-2.0
// Periodic releases on absolute time.
#pragma once

#include <cstdint>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/detail/timer_schedule.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/cyclic_schedule.hpp"

namespace rclrt::executor {

/// The treatment of overdue releases: releases of a timer that no thread could make in time.
/// kCatchUp: each of them is an instance, up to the queue depth. kSkip: the oldest is an instance,
/// and the others are skipped and counted as dropped; later releases keep their times (as with
/// rcl's timers). kRebase: the oldest is an instance, and the next release is one period from now.
using realtime::OverrunPolicy;

/// The release times of a timer.
struct TimerOptions {
  std::int64_t period_ns = 0;
  std::int64_t offset_ns = 0;  ///< first release = the executor's epoch + offset
  OverrunPolicy overrun = OverrunPolicy::kCatchUp;
};

/// A callback released by time.
class RCLRT_EXECUTOR_EXPORT TimerCallback : public Callback {
 public:
  /// Throws std::invalid_argument unless the period is positive and the offset is not negative.
  RCLRT_SETUP TimerCallback(CallbackOptions options, TimerOptions timer);

  const TimerOptions& timer() const noexcept RCLRT_NONBLOCKING { return timer_; }

  /// Returns the time of the first release of a schedule that is started anew, in CLOCK_MONOTONIC
  /// nanoseconds. The default is epoch + offset. A binding overrides it if its timers count from
  /// another time, or may be reset (see Executor::restart). Called with the configuration locked.
  RCLRT_SETUP virtual std::int64_t first_release_ns(std::int64_t epoch_ns) const noexcept;

 private:
  friend class Access;

  const TimerOptions timer_;
  // Only the thread that releases the timer uses it: the worker that holds the lock of the timer's
  // lane (the queue of its priority), a scheduler thread, or the loop of a wait set.
  detail::TimerSchedule schedule_;
};

}  // namespace rclrt::executor
