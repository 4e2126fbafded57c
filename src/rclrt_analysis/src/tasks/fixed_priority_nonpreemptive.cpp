// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "demand.hpp"
#include "load.hpp"
#include "rclrt/analysis/fixed_priority.hpp"
#include "tasks/check_tasks.hpp"
#include "tasks/levels.hpp"

namespace rclrt::analysis {
namespace {

using detail::Budget;
using detail::Count;
using detail::fixed_point;
using detail::product;
using detail::sum;

/// The tasks that may delay the task under study: the more urgent ones, and those of its level.
struct Interference {
  detail::Demand before{Count::kBefore};  // for the length of the busy period
  detail::Demand until{Count::kUntil};    // for the start of a job
  detail::Load load;
  void add(const Task& task) {
    before.add(task.wcet, task.period, task.jitter);
    until.add(task.wcet, task.period, task.jitter);
    load.add(task.wcet, task.period);
  }
};

/// Bounds the response time of one task under fixed priorities without preemption. `others` is the
/// work of tasks of the same and higher priorities. All jobs of the task in the busy period are
/// examined: a later job may have the longest response, even if each job ends before the next one
/// arrives.
TaskResult analyse(const Task& task, Ticks blocking, Interference others, Budget& budget) {
  TaskResult result;
  detail::Load load = others.load;
  load.add(task.wcet, task.period);
  if (load.compare_with_one() > 0) {
    result.schedulable = Answer::kNo;
    result.note = "the load of this level and those above is more than the core: no bound exists";
    return result;
  }
  others.before.add(task.wcet, task.period, task.jitter);
  // At a load of exactly 1 everything repeats after a hyperperiod; below 1 the busy period ends.
  const auto hyperperiod = load.compare_with_one() == 0 ? load.hyperperiod() : std::nullopt;
  const auto busy =
      hyperperiod ? hyperperiod
                  : fixed_point(blocking, std::max<Ticks>(blocking, 1), others.before, budget);
  Ticks worst = 0;
  bool whole = busy.has_value();
  // If the end of the busy period is not known, some jobs are still examined: one may miss.
  const Ticks jobs =
      whole ? std::max<Ticks>(1, detail::ceil_div(sum(*busy, task.jitter), task.period)) : 1000;
  Ticks w = blocking;
  for (Ticks q = 0; q < jobs; ++q) {
    const auto start = fixed_point(sum(blocking, product(q, task.wcet)), w, others.until, budget);
    const Ticks arrival = product(q, task.period);
    if (!start || arrival >= detail::kHorizon / 2) {
      whole = false;
      break;
    }
    w = *start;
    worst = std::max(worst, w - arrival);
  }
  const Ticks response = task.jitter + worst + task.wcet;
  if (!whole) {
    if (response > task.deadline) {
      result.schedulable = Answer::kNo;
    }
    result.note = "the busy period is too long to follow";
    return result;
  }
  result.response = response;
  result.exact = true;
  result.schedulable = response <= task.deadline ? Answer::kYes : Answer::kNo;
  return result;
}

}  // namespace

TaskSetResult fixed_priority_nonpreemptive(std::span<const Task> tasks, Effort effort) {
  detail::check_tasks_without_suspension(tasks, "non-preemptive scheduling");
  const auto levels = detail::levels_of(tasks);
  const auto below =
      detail::longest_below(tasks, levels, [](const Task& task) { return task.wcet; });
  TaskSetResult result;
  result.tasks.resize(tasks.size());
  Interference higher;
  Budget total(effort);
  for (const auto& level : levels) {
    for (const std::size_t i : level) {
      if (total.empty()) {
        result.tasks[i].note = "the analysis took too long";
        continue;
      }
      Interference others = higher;
      for (const std::size_t k : level) {
        if (k != i) {
          others.add(tasks[k]);
        }
      }
      Budget budget = total.part(effort.steps / 16);
      // The copies count, too.
      budget.take(4 * others.before.size());
      result.tasks[i] =
          analyse(tasks[i], sum(tasks[i].blocking, below[i]), std::move(others), budget);
      total.take(static_cast<std::size_t>(budget.used()));
      if (level.size() > 1 && result.tasks[i].exact) {
        result.tasks[i].exact = false;
        result.tasks[i].note = "equal priorities: reached only if ties are broken against the task";
        if (result.tasks[i].schedulable == Answer::kNo) {
          result.tasks[i].schedulable = Answer::kUnknown;
        }
      }
    }
    for (const std::size_t i : level) {
      higher.add(tasks[i]);
    }
  }
  result.schedulable = detail::all_of(result.tasks);
  return result;
}

}  // namespace rclrt::analysis
