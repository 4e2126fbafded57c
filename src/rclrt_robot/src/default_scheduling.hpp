// SPDX-License-Identifier: Apache-2.0
// The scheduling of a process without stated priorities.
#pragma once

#include "rclcpp_names.hpp"
#include "rclrt/model/executor_kind.hpp"
#include "rclrt_robot/robot.hpp"

namespace rclrt_robot {

/// Returns the options with normal scheduling for callbacks below priority 1, unless a file states
/// priorities. The reason: at a single SCHED_FIFO priority a long callback keeps all others from
/// its CPU, and late timers skip releases. The stock container would lose less, because the kernel
/// time-slices its threads.
///
/// The options stay unchanged if they state `best_effort_below`, how levels are scheduled, or that
/// real time is required or off; if the executor has no threads for each level or group; or if
/// there is a recording with an application, because its bounds assume SCHED_FIFO.
inline RobotOptions with_default_scheduling(RobotOptions robot) {
  engine::ExecutorOptions& options = robot.options.engine;
  const auto kind = rclrt::model::executor_kind_of(robot.executor);
  const auto threads =
      kind ? rclrt::model::traits(*kind).threads : rclrt::model::ExecutorThreads::kFixed;
  const bool has_threads = threads == rclrt::model::ExecutorThreads::kPerLevel ||
                           threads == rclrt::model::ExecutorThreads::kPerGroup;
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

}  // namespace rclrt_robot
