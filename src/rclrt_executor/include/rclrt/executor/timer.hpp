// SPDX-License-Identifier: Apache-2.0
// Periodic releases on absolute time.
#pragma once

#include <cstdint>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/cyclic_schedule.hpp"

namespace rclrt::executor {

/// What happens to releases whose time passed before anybody could release them: kCatchUp: each of
/// them is an instance, as far as the credits reach. kSkip: the oldest is an instance, the others
/// are skipped and counted as dropped; the grid stays (as with rcl's timers). kRebase: the oldest
/// is an instance, the next release is one period from now.
using realtime::OverrunPolicy;

/// The sequence of nominal releases of one timer. Pure: time comes in as a parameter.
class RCLRT_EXECUTOR_EXPORT TimerSchedule {
 public:
  /// Throws std::invalid_argument unless `period_ns` is positive.
  RCLRT_SETUP explicit TimerSchedule(std::int64_t period_ns);

  /// First release at `epoch_ns` + `offset_ns`. Times beyond the end of the clock mean never.
  void start(std::int64_t epoch_ns, std::int64_t offset_ns) noexcept RCLRT_NONBLOCKING;
  std::int64_t period_ns() const noexcept RCLRT_NONBLOCKING { return period_ns_; }
  std::int64_t next_ns() const noexcept RCLRT_NONBLOCKING { return next_ns_; }

  /// One release taken off the schedule.
  struct Release {
    std::int64_t nominal_ns;
    std::uint64_t skipped;  ///< releases after this one that will never be instances
  };
  /// Takes the next release, which must be due: `next_ns() <= now_ns`.
  Release take(std::int64_t now_ns, OverrunPolicy policy) noexcept RCLRT_NONBLOCKING;

  /// Leaves out every release that is due and returns how many there were.
  std::uint64_t skip_due(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;

 private:
  const std::int64_t period_ns_;
  std::int64_t next_ns_ = 0;
};

/// When a timer releases.
struct TimerOptions {
  std::int64_t period_ns = 0;
  std::int64_t offset_ns = 0;  ///< first release = the executor's epoch + offset
  OverrunPolicy overrun = OverrunPolicy::kCatchUp;
};

/// A callback released by time. Its schedule belongs to whoever keeps the time for it: the worker
/// that holds its lane, a scheduler thread, or a wait-set loop; nobody else touches it.
class RCLRT_EXECUTOR_EXPORT TimerCallback : public Callback {
 public:
  /// Throws std::invalid_argument unless the period is positive and the offset is not negative.
  RCLRT_SETUP TimerCallback(CallbackOptions options, TimerOptions timer);

  const TimerOptions& timer() const noexcept RCLRT_NONBLOCKING { return timer_; }
  TimerSchedule& schedule() noexcept RCLRT_NONBLOCKING { return schedule_; }

  /// The time of the first release of a schedule that is started anew, CLOCK_MONOTONIC: epoch +
  /// offset. For a binding whose timers count from elsewhere, and may be set back (see
  /// Executor::restart). Called with the configuration locked.
  RCLRT_SETUP virtual std::int64_t first_release_ns(std::int64_t epoch_ns) const noexcept;
  /// Starts the schedule anew.
  RCLRT_SETUP void start(std::int64_t epoch_ns) noexcept {
    schedule_.start(first_release_ns(epoch_ns), 0);
  }

  /// Whether releases that come while it runs may as well be released when it has ended: it
  /// excludes itself, and either way each of them is an instance as far as the credits reach, or
  /// the first of them alone.
  bool may_be_released_late() noexcept RCLRT_NONBLOCKING {
    return (timer_.overrun == OverrunPolicy::kCatchUp ||
            (timer_.overrun == OverrunPolicy::kSkip && credits_.count() == 1)) &&
           overload() == Overload::kQueue && group().type() == GroupType::kMutuallyExclusive;
  }

  /// Takes the due release off the schedule, counts what is skipped and returns the instance;
  /// nullptr when there is no credit for it: it and all others due are then counted drops.
  Instance* expire(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;

 private:
  friend class WaitSetExecutor;

  /// Takes the due release off the schedule and counts what it skipped, not the release itself.
  TimerSchedule::Release take(std::int64_t now_ns, OverrunPolicy policy) noexcept RCLRT_NONBLOCKING;

  const TimerOptions timer_;
  TimerSchedule schedule_;
};

}  // namespace rclrt::executor
