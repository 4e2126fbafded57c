// SPDX-License-Identifier: Apache-2.0
// Checks of the limits of task_set.hpp, for tasks that do not come from the file reader.
#pragma once

#include <span>

#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis::detail {

/// The note of a task without a bound because of its suspension.
inline constexpr const char* kSuspensionIsTooMuch =
    "the times of suspension count as computation here, and with them the load is above 1";

/// Throws std::invalid_argument with the name of the task and the expected value.
void check_tasks(std::span<const Task> tasks);

/// Checks as check_tasks() does, and refuses suspension, which `analysis` does not support.
void check_tasks_without_suspension(std::span<const Task> tasks, const char* analysis);

}  // namespace rclrt::analysis::detail
