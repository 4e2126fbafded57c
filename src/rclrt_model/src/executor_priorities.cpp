// SPDX-License-Identifier: Apache-2.0
// The SCHED_FIFO priorities of the threads of an executor, by its kind.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/relative_deadline.hpp"
#include "shared_cpus.hpp"

namespace rclrt::model {

namespace {

using detail::may_share_a_cpu;

void require_different(std::string_view kind, const std::vector<Executor>& executors,
                       const std::vector<int>& priorities) {
  for (std::size_t i = 0; i < executors.size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (priorities[i] == priorities[other] && may_share_a_cpu(executors[i], executors[other])) {
        throw std::invalid_argument(
            std::string(kind) + ": executors '" + executors[other].name + "' and '" +
            executors[i].name + "' share a CPU and have top_priority " +
            std::to_string(priorities[i]) + "; expected different ones, or none stated at all");
      }
    }
  }
}

/// Returns the number of SCHED_FIFO priorities that the threads of the executor need: one per
/// priority level of its callbacks, or under EDF one per distinct relative deadline.
std::size_t priorities_needed(const Application& application, std::size_t executor,
                              const ExecutorTraits& kind, const std::vector<int>& levels) {
  std::set<std::int64_t> needed;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (application.executor_of(i) != executor) {
      continue;
    }
    const auto deadline = relative_deadline(application.callbacks[i]);
    needed.insert(kind.by_deadline ? deadline.value_or(Nanoseconds::max()).count() : levels[i]);
  }
  return needed.size();
}

/// Throws std::invalid_argument if an executor states a top_priority with too few SCHED_FIFO
/// priorities below it. The executor would refuse to start, or several levels would share a thread.
void require_room(const Application& application, const ExecutorTraits& kind) {
  std::vector<int> levels;  // of all callbacks, once an executor states a priority
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    const Executor& executor = application.executors[i];
    if (!executor.top_priority || !(kind.has_levels || kind.by_deadline)) {
      continue;
    }
    if (levels.empty()) {
      levels = thread_levels(application, kind.kind);
    }
    const std::size_t needed = priorities_needed(application, i, kind, levels);
    if (needed >= static_cast<std::size_t>(*executor.top_priority)) {
      throw std::invalid_argument(
          "executor '" + executor.name + "': " + std::to_string(needed) +
          (kind.by_deadline ? " different deadlines" : " priority levels") +
          " do not fit into the SCHED_FIFO priorities below its top_priority of " +
          std::to_string(*executor.top_priority) + "; state a higher top_priority");
    }
  }
}

/// Returns the executors in the order of their most urgent callbacks, then of the file.
std::vector<std::size_t> by_urgency(const Application& application) {
  const std::vector<int> priorities = application.effective_priorities();
  std::vector<int> urgency(application.executors.size());
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    int& own = urgency[application.executor_of(i)];
    own = std::max(own, priorities[i]);
  }
  std::vector<std::size_t> result(urgency.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  std::ranges::stable_sort(result, std::greater{}, [&](std::size_t each) { return urgency[each]; });
  return result;
}

}  // namespace

std::vector<int> group_levels(const Application& application) {
  std::vector<int> levels = application.effective_priorities();
  std::map<std::pair<std::size_t, std::string>, int> highest;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Callback& callback = application.callbacks[i];
    if (callback.group) {
      int& own = highest.try_emplace({callback.node, *callback.group}, levels[i]).first->second;
      own = std::max(own, levels[i]);
    }
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Callback& callback = application.callbacks[i];
    if (callback.group) {
      levels[i] = highest.at({callback.node, *callback.group});
    }
  }
  return levels;
}

std::vector<int> thread_levels(const Application& application, ExecutorKind kind) {
  return traits(kind).threads == ExecutorThreads::kPerGroup ? group_levels(application)
                                                            : application.effective_priorities();
}

std::vector<int> top_priorities(const Application& application, ExecutorKind kind, bool need_room) {
  const auto& executors = application.executors;
  if (need_room) {
    require_room(application, traits(kind));
  }
  std::vector<int> result;
  for (const Executor& executor : executors) {
    result.push_back(executor.top_priority.value_or(kTopPriority));
  }
  if (!traits(kind).orders_executors) {
    return result;
  }
  const auto states = [](const Executor& executor) { return executor.top_priority.has_value(); };
  if (std::ranges::any_of(executors, states)) {
    if (need_room) {
      require_different(traits(kind).name, executors, result);
    }
    return result;
  }
  if (need_room && executors.size() > kTopPriority - 1) {
    throw std::invalid_argument(
        std::string(traits(kind).name) + ": " + std::to_string(executors.size()) +
        " executors do not fit into the " + std::to_string(kTopPriority - 1) +
        " SCHED_FIFO priorities below " + std::to_string(kTopPriority) +
        "; state top_priority for each (executors that share no CPU may have the same one)");
  }
  int priority = kTopPriority;
  for (const std::size_t each : by_urgency(application)) {
    result[each] = std::max(2, priority--);  // at least one priority is below it
  }
  return result;
}

std::vector<int> kernel_priorities(const Application& application, ExecutorKind kind) {
  const std::vector<int> tops = top_priorities(application, kind, false);
  const std::vector<int> levels = thread_levels(application, kind);
  std::vector<std::set<int, std::greater<>>> of_executor(application.executors.size());
  for (std::size_t i = 0; i < levels.size() && traits(kind).has_levels; ++i) {
    of_executor[application.executor_of(i)].insert(levels[i]);
  }
  std::vector<int> result;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::size_t executor = application.executor_of(i);
    const auto& own = of_executor[executor];
    const auto above = std::distance(own.begin(), own.find(levels[i]));
    result.push_back(std::max(1, tops[executor] - 1 - static_cast<int>(above)));
  }
  return result;
}

}  // namespace rclrt::model
