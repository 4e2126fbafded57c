// SPDX-License-Identifier: Apache-2.0
// Timers: the engine runs those on the steady clock, the others follow a clock that may jump.
#pragma once

#include <memory>
#include <mutex>
#include <rclcpp/rclcpp.hpp>
#include <vector>

#include "entity_callback.hpp"
#include "rclrt/executor/executor.hpp"
#include "rclrt/realtime/quiescence_guard.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt_rclcpp {

class ClockTimerCallback;

/// Releases timers on ROS time, simulated or not, and on system time. While the gate is open, its
/// thread sleeps until the next timer is due by its clock. The thread checks again when a clock
/// jumps (with simulated time: at each message on /clock), when a timer is reset or has run, and
/// ten times a second, because there is no notification of a jump of the system time. Thread-safe.
class ClockTimers {
 public:
  /// The first timer starts the thread. It is scheduled like the most urgent thread of `engine`.
  ClockTimers(const engine::Executor& engine, rclrt::realtime::QuiescenceGuard& gate)
      : engine_(engine), gate_(gate) {}
  ~ClockTimers();
  ClockTimers(const ClockTimers&) = delete;
  ClockTimers& operator=(const ClockTimers&) = delete;

  void add(const std::shared_ptr<ClockTimerCallback>& timer, const rclcpp::Clock::SharedPtr& clock);
  void remove(const ClockTimerCallback* timer) noexcept;
  void wake() noexcept { bell_.notify_all(); }
  /// Releases the due timers, on the calling thread. Returns how long until the next check.
  std::int64_t release_due() noexcept;

 private:
  struct Clock {
    rclcpp::Clock::WeakPtr clock;
    rclcpp::JumpHandler::SharedPtr jumps;
    bool reports_jumps = false;
    std::vector<std::weak_ptr<ClockTimerCallback>> timers;
  };

  void start();
  void run();

  const engine::Executor& engine_;
  rclrt::realtime::QuiescenceGuard& gate_;
  std::mutex mutex_;  // guards clocks_; no other lock is taken inside it
  std::vector<Clock> clocks_;
  rclrt::realtime::EventCount bell_;
  std::atomic<bool> stop_{false};
  rclrt::realtime::Thread thread_;
};

/// Returns how long ago the timer's next call was due, by its clock; 0 if it is cancelled or not
/// due.
std::int64_t overdue_ns(const rclcpp::TimerBase::SharedPtr& timer) noexcept;

/// Returns the period. Throws for a timer that rcl does not know.
std::int64_t period_ns(const rclcpp::TimerBase::SharedPtr& timer);

/// Makes the engine callback of a timer. The engine itself releases a timer on the steady clock;
/// `clocks` releases a timer on another clock.
Bound bind(const rclcpp::TimerBase::SharedPtr& timer, engine::CallbackOptions options,
           Changes& changes, engine::Executor& engine, ClockTimers& clocks);

}  // namespace rclrt_rclcpp
