// SPDX-License-Identifier: Apache-2.0
// A file that states how the threads of a process are scheduled, the middleware's too.
#pragma once

#include <filesystem>

#include "rclrt/realtime/thread_plan.hpp"
#include "rclrt_rclcpp/export.hpp"

namespace rclrt_rclcpp {

/// Reads a thread plan from a YAML file as `rclrt::model::load_thread_plan` does, which shows the
/// format. Throws std::runtime_error whose text is one "file:line:column: what is wrong; expected
/// what" per line. Thread-safe.
RCLRT_RCLCPP_EXPORT rclrt::realtime::ThreadPlan load_thread_plan(const std::filesystem::path& file);

}  // namespace rclrt_rclcpp
