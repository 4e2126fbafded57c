// SPDX-License-Identifier: Apache-2.0
// Reads the scheduling of a process's threads from a file, the middleware's threads included.
#pragma once

#include <filesystem>

#include "rclrt/realtime/thread_plan.hpp"
#include "rclrt_robot/export.hpp"

namespace rclrt_robot {

/// Reads a thread plan from a YAML file, as `rclrt::model::load_thread_plan` does; its
/// documentation shows the format. Throws std::runtime_error with one line for each mistake:
/// "file:line:column: what is wrong; expected what". Thread-safe.
RCLRT_ROBOT_EXPORT rclrt::realtime::ThreadPlan load_thread_plan(const std::filesystem::path& file);

}  // namespace rclrt_robot
