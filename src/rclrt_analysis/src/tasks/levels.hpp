// SPDX-License-Identifier: Apache-2.0
// The tasks in order of priority, level by level.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis::detail {

/// Groups the tasks by priority, the highest priority first. Each group has the indices of the
/// tasks of one priority, in the order of the task set.
std::vector<std::vector<std::size_t>> levels_of(std::span<const Task> tasks);

/// Returns for each task the longest `length(task)` of the less urgent ones.
template <typename Length>
std::vector<Ticks> longest_below(std::span<const Task> tasks,
                                 const std::vector<std::vector<std::size_t>>& levels,
                                 Length length) {
  std::vector<Ticks> result(tasks.size());
  Ticks longest = 0;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    for (const std::size_t i : *level) {
      result[i] = longest;
    }
    for (const std::size_t i : *level) {
      longest = std::max(longest, length(tasks[i]));
    }
  }
  return result;
}

/// Returns the answer for all tasks together: a single no is a no.
inline Answer all_of(const std::vector<TaskResult>& tasks) {
  Answer result = Answer::kYes;
  for (const TaskResult& task : tasks) {
    if (task.schedulable == Answer::kNo) {
      return Answer::kNo;
    }
    if (task.schedulable == Answer::kUnknown) {
      result = Answer::kUnknown;
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
