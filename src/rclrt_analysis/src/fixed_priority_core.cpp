// SPDX-License-Identifier: Apache-2.0
// Callbacks of one or more executors on one CPU, each bounded by itself: the level-i busy period
// of "An extendible approach for analysing fixed priority hard real-time tasks" (Tindell 1992) with
// the immediate ceiling.
#include <algorithm>
#include <set>

#include "holistic.hpp"

namespace rclrt::analysis::detail {
namespace {

/// The N levels of each executor are the N highest priorities of SCHED_FIFO that it may use; so
/// executors that share a CPU compare by how many levels of their own lie above.
std::vector<int> os_priorities(const CoreProblem& problem) {
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
    int rank = 0;
    std::map<int, int> os;
    for (const int level : levels) {
      os[level] = -rank++;
    }
    for (const std::size_t callback : problem.core.callbacks) {
      if (mine(callback)) {
        result[callback] = os[problem.workload.priority[callback]];
      }
    }
  }
  return result;
}

/// Of each callback: the highest priority of its group.
std::vector<int> ceilings(const CoreProblem& problem, const std::vector<int>& os) {
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

}  // namespace

void fixed_priority_core(const CoreProblem& problem, Responses& responses, Budget& budget) {
  const auto& work = problem.workload;
  const std::vector<int> os = os_priorities(problem);
  const std::vector<int> ceiling = ceilings(problem, os);
  for (const std::size_t own : problem.core.callbacks) {
    std::vector<Interferer> others;
    Ticks longest = 0;
    for (const std::size_t other : problem.core.callbacks) {
      if (other == own) {
        continue;
      }
      const bool below = os[other] < os[own];
      if (below) {
        const Ticks rest = ceiling[other] >= os[own] ? work.wcet[other] : 0;
        longest = std::max(longest, sum(rest, problem.per_instance));
      }
      // Whoever is released is dispatched, at the cost of whoever runs.
      for (const Stream& stream : streams_of(problem, other, !below)) {
        if (stream.work > 0) {
          others.push_back({stream, {}});
        }
      }
    }
    // A callback returns after the more urgent ones that it has released.
    const Ticks instant = 1;
    const std::vector<BusyWindow::Blocking> blocking{{longest, 0, kHorizon}};
    add_background(problem, others);
    const auto streams = streams_of(problem, own);
    // Later ones of its own wait behind it, but a scheduler thread sees to them at once.
    if (work.scheduler > 0) {
      for (const Stream& stream : streams_of(problem, own, false)) {
        others.push_back({stream, {}});
      }
    }
    const auto found = response_in_busy_window({streams, others, blocking, instant}, budget);
    responses[own] = found.value_or(kHorizon);
  }
}

}  // namespace rclrt::analysis::detail
