// SPDX-License-Identifier: Apache-2.0
#include "bounds/thread_priorities.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace rclrt::analysis::detail {

int top_priority(const model::Executor& executor) {
  return executor.top_priority.value_or(model::kTopPriority);
}

std::vector<int> thread_priorities(const Workload& workload, const Core& core) {
  const model::Application& application = workload.application;
  std::vector<int> result(application.callbacks.size());
  for (const std::size_t executor : core.executors) {
    std::set<int, std::greater<>> levels;
    const auto mine = [&](std::size_t callback) {
      return application.executor_of(callback) == executor;
    };
    for (const std::size_t callback : core.callbacks) {
      if (mine(callback)) {
        levels.insert(workload.priority[callback]);
      }
    }
    int priority = top_priority(application.executors[executor]);
    std::map<int, int> os;
    for (const int level : levels) {
      os[level] = --priority;
    }
    for (const std::size_t callback : core.callbacks) {
      if (mine(callback)) {
        result[callback] = os[workload.priority[callback]];
      }
    }
  }
  return result;
}

std::vector<int> thread_ceilings(const Workload& workload, const Core& core,
                                 const std::vector<int>& os) {
  const auto& callbacks = workload.application.callbacks;
  std::map<std::pair<std::size_t, std::string>, int> highest;
  std::vector<int> result = os;
  for (const std::size_t i : core.callbacks) {
    if (!callbacks[i].group) {
      continue;
    }
    const auto at = highest.try_emplace({callbacks[i].node, *callbacks[i].group}, os[i]).first;
    at->second = std::max(at->second, os[i]);
  }
  for (const std::size_t i : core.callbacks) {
    if (callbacks[i].group) {
      result[i] = highest.at({callbacks[i].node, *callbacks[i].group});
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
