// SPDX-License-Identifier: Apache-2.0
#include "bounds/thread_priorities.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace rclrt::analysis::detail {

std::vector<int> thread_priorities(const CoreProblem& problem) {
  const model::Application& application = problem.workload.application;
  std::vector<int> result(application.callbacks.size());
  for (const std::size_t executor : problem.core.executors) {
    std::set<int, std::greater<>> levels;
    const auto mine = [&](std::size_t callback) {
      return application.executor_of(callback) == executor;
    };
    for (const std::size_t callback : problem.core.callbacks) {
      if (mine(callback)) {
        levels.insert(problem.workload.priority[callback]);
      }
    }
    int priority = application.executors[executor].top_priority.value_or(model::kTopPriority);
    std::map<int, int> os;
    for (const int level : levels) {
      os[level] = --priority;
    }
    for (const std::size_t callback : problem.core.callbacks) {
      if (mine(callback)) {
        result[callback] = os[problem.workload.priority[callback]];
      }
    }
  }
  return result;
}

std::vector<int> thread_ceilings(const CoreProblem& problem, const std::vector<int>& os) {
  const auto& callbacks = problem.workload.application.callbacks;
  std::map<std::pair<std::size_t, std::string>, int> highest;
  std::vector<int> result = os;
  for (const std::size_t i : problem.core.callbacks) {
    if (!callbacks[i].group) {
      continue;
    }
    const auto at = highest.try_emplace({callbacks[i].node, *callbacks[i].group}, os[i]).first;
    at->second = std::max(at->second, os[i]);
  }
  for (const std::size_t i : problem.core.callbacks) {
    if (callbacks[i].group) {
      result[i] = highest.at({callbacks[i].node, *callbacks[i].group});
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
