// SPDX-License-Identifier: Apache-2.0
// Task sets as printed in the papers: the most urgent task first.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis {

/// C, T and D; D is T if it is not given.
struct Row {
  Ticks wcet;
  Ticks period;
  std::optional<Ticks> deadline{};
};

inline std::vector<Task> tasks(std::initializer_list<Row> rows) {
  std::vector<Task> result;
  for (const Row& row : rows) {
    Task task;
    task.id = "t" + std::to_string(result.size() + 1);
    task.wcet = row.wcet;
    task.period = row.period;
    task.deadline = row.deadline.value_or(row.period);
    task.priority = static_cast<int>(rows.size() - result.size());
    result.push_back(task);
  }
  return result;
}

/// The worst response time of each task; std::nullopt if it is unbounded.
using Responses = std::vector<std::optional<Ticks>>;

inline Responses responses(const TaskSetResult& result) {
  Responses all;
  for (const TaskResult& task : result.tasks) {
    all.push_back(task.response);
  }
  return all;
}

}  // namespace rclrt::analysis
