// SPDX-License-Identifier: Apache-2.0
// The scheduling of a process for which nothing says what is urgent.
#pragma once

#include "rclrt_rclcpp/robot.hpp"

namespace rclrt_rclcpp {

/// Returns the options with normal scheduling for callbacks below priority 1, where no file says
/// which are urgent. At one SCHED_FIFO priority a long callback keeps all others from its CPU, and
/// late timers skip: the stock container, whose threads the kernel lets take turns, would lose
/// less. Left as they are: options that state `best_effort_below`, how levels are scheduled, or
/// that real time is required or off; kinds without threads of levels or groups; and the
/// application of a recording, whose bounds are of SCHED_FIFO.
inline RobotOptions with_default_scheduling(RobotOptions robot) {
  engine::ExecutorOptions& options = robot.options.engine;
  const bool has_threads = robot.executor == "preemptive" ||
                           robot.executor == "producer_consumer" || robot.executor == "per_group";
  const bool is_stated = options.best_effort_below || !options.reservations.empty() ||
                         options.realtime != engine::Realtime::kTry ||
                         options.preemption != engine::Preemption::kByRealtime ||
                         !robot.options.priorities.empty();
  const bool has_bounds = robot.recording && !robot.recording->application.empty();
  if (has_threads && !is_stated && !has_bounds) {
    options.best_effort_below = 1;
  }
  return robot;
}

}  // namespace rclrt_rclcpp
