// SPDX-License-Identifier: Apache-2.0
// One rcl timer and a wait set, used as rclcpp's executors use them.
#pragma once

#include <rcl/time.h>
#include <rcl/timer.h>
#include <rcl/wait.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "rclrt/rclrt.hpp"

namespace rclrt::timer_study {

/// The times of a call of a timer, on rcl's steady clock.
struct TimerCall {
  std::int64_t release_ns;         ///< nominal
  std::int64_t now_ns;             ///< in the callback
  std::int64_t since_rcl_call_ns;  ///< result of rcl_timer_get_time_since_last_call in the callback
};

/// A wall timer that the calling thread waits for.
class RclTimer {
 public:
  /// Makes the timer; its first release is one period from now. Throws Error.
  RclTimer(std::shared_ptr<Context> context, std::chrono::nanoseconds period);
  ~RclTimer();
  RclTimer(const RclTimer&) = delete;
  RclTimer& operator=(const RclTimer&) = delete;

  /// Waits for the timer, as `spin` does, and calls it. Throws Error.
  TimerCall wait();

  /// Calls the timer if it is ready, as `spin_some` does. Returns false if it is not. Throws Error.
  bool call_if_ready(TimerCall& call);

 private:
  bool take(std::int64_t timeout_ns, TimerCall& call);

  const std::shared_ptr<Context> context_;
  rcl_clock_t clock_{};
  rcl_timer_t timer_;
  rcl_wait_set_t wait_set_;
};

}  // namespace rclrt::timer_study
