// SPDX-License-Identifier: Apache-2.0
// The common parts of the preemptive and the non-preemptive response-time analysis of EDF.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "demand.hpp"
#include "load.hpp"
#include "rclrt/analysis/task_set.hpp"
#include "tasks/levels.hpp"

namespace rclrt::analysis::detail {

/// Returns a time after the start of the busy period from which on arrivals need not be examined:
/// no busy period is longer or, at a load of exactly 1, everything repeats after a hyperperiod.
/// nullopt if it cannot be computed.
inline std::optional<Ticks> busy_period(std::span<const Task> tasks, const Load& load,
                                        Ticks blocking, Budget& budget) {
  if (load.compare_with_one() == 0) {
    if (!load.hyperperiod()) {
      return std::nullopt;
    }
    Ticks all_due = 0;  // from here on jobs of every task are due
    for (const Task& task : tasks) {
      all_due = std::max(all_due, sum(task.deadline, task.jitter));
    }
    return sum(*load.hyperperiod(), all_due);
  }
  Demand all(Count::kBefore);
  for (const Task& task : tasks) {
    all.add(task.wcet, task.period, task.jitter);
  }
  return fixed_point(blocking, std::max<Ticks>(1, blocking), all, budget);
}

/// Returns the arrivals of task i in the busy period (times after its start) at which its response
/// may be the longest. These are the arrivals at which its deadline coincides with one of a task
/// that releases from 0 on as early as it can: Spuri 1996, lemma 3.3. nullopt if there are too
/// many.
inline std::optional<std::vector<Ticks>> arrivals_to_check(std::span<const Task> tasks,
                                                           std::size_t i, Ticks busy,
                                                           Budget& budget) {
  std::vector<Ticks> result;
  for (const Task& task : tasks) {
    const Ticks first = task.deadline - task.jitter - tasks[i].deadline;
    const Ticks least = -tasks[i].jitter;
    Ticks a = first >= least ? first : first + ceil_div(least - first, task.period) * task.period;
    if (a < busy && !budget.take(static_cast<std::size_t>((busy - a) / task.period + 1))) {
      return std::nullopt;
    }
    for (; a < busy; a += task.period) {
      if (result.size() >= 20'000'000) {
        return std::nullopt;
      }
      result.push_back(a);
    }
  }
  std::ranges::sort(result);
  const auto [first, last] = std::ranges::unique(result);
  result.erase(first, last);
  return result;
}

/// Returns the longest time from an arrival `a` of task i to `end_of_job(a)`, over all arrivals.
template <typename EndOfJob>
std::optional<Ticks> worst_response(std::span<const Task> tasks, std::size_t i, Ticks busy,
                                    Budget& budget, EndOfJob end_of_job) {
  const auto arrivals = arrivals_to_check(tasks, i, busy, budget);
  if (!arrivals) {
    return std::nullopt;
  }
  Ticks worst = tasks[i].jitter + tasks[i].wcet;
  for (const Ticks a : *arrivals) {
    const std::optional<Ticks> end = end_of_job(a);
    if (!end) {
      return std::nullopt;
    }
    worst = std::max(worst, *end - a);
  }
  return worst;
}

/// Returns how many jobs of `task` have a deadline up to `deadline`, if they are released from time
/// 0 on as early as possible.
inline Ticks jobs_due(const Task& task, Ticks deadline) {
  const Ticks room = deadline + task.jitter - task.deadline;
  return room < 0 ? 0 : room / task.period + 1;
}

/// Returns a response-time bound for each task: the longest time from an arrival `a` in the busy
/// period to `end_of_job(i, a)`, the end of that job of task i.
template <typename EndOfJob>
TaskSetResult bound_responses(std::span<const Task> tasks, Budget& budget, EndOfJob end_of_job) {
  TaskSetResult result;
  result.tasks.resize(tasks.size());
  Load load;
  Ticks blocking = 0;
  for (const Task& task : tasks) {
    load.add(task.wcet, task.period);
    blocking = std::max(blocking, task.blocking);
  }
  const bool overload = load.compare_with_one() > 0;
  const auto busy = overload ? std::nullopt : busy_period(tasks, load, blocking, budget);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    TaskResult& task = result.tasks[i];
    if (overload) {
      task.schedulable = Answer::kNo;
      task.note = "the load is more than the core: no bound exists";
      continue;
    }
    if (busy) {
      task.response =
          worst_response(tasks, i, *busy, budget, [&](Ticks a) { return end_of_job(i, a); });
    }
    task.exact = task.response.has_value();
    if (task.response) {
      task.schedulable = *task.response <= tasks[i].deadline ? Answer::kYes : Answer::kNo;
    } else {
      task.note = "the response-time analysis took too long";
    }
  }
  result.schedulable = all_of(result.tasks);
  return result;
}

}  // namespace rclrt::analysis::detail
