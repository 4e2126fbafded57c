// SPDX-License-Identifier: Apache-2.0
// The limits of task_set.hpp, checked for tasks that no file reader has seen.
#pragma once

#include <span>

#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis::detail {

/// Throws std::invalid_argument naming the task and what is expected.
void check_tasks(std::span<const Task> tasks);

/// As check_tasks(), and refuses suspension, which `analysis` does not offer.
void check_tasks_without_suspension(std::span<const Task> tasks, const char* analysis);

}  // namespace rclrt::analysis::detail
