// SPDX-License-Identifier: Apache-2.0
// What a process reports when its spin begins.
#pragma once

#include <optional>
#include <string>

#include "rclcpp_names.hpp"
#include "rclrt_robot/robot.hpp"

namespace rclrt_robot {

/// Returns one line with the kind of the executor, its CPUs, the priorities of its threads, and
/// whether memory is locked: "executor preemptive on cpus 0, 1: SCHED_FIFO 94 and below, memory
/// locked". `unlocked` is why not all memory is locked; empty: it is.
std::string start_line(const RobotOptions& options, const engine::Executor& engine,
                       const std::optional<std::string>& unlocked);

}  // namespace rclrt_robot
