// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "check_tasks.hpp"
#include "edf_response.hpp"
#include "levels.hpp"
#include "rclrt/analysis/edf.hpp"

namespace rclrt::analysis {
namespace {

using detail::Budget;
using detail::floor_div;
using detail::jobs_due;
using detail::product;
using detail::sum;

/// The end of the job of task i that arrives at `a` and starts as late as it can. George et al.
/// 1996, theorem 15.
std::optional<Ticks> nonpreemptive_end(std::span<const Task> tasks, std::size_t i, Ticks a,
                                       Budget& budget) {
  const Task& own = tasks[i];
  const Ticks due = a + own.deadline;
  Ticks blocking = 0;  // by a job of a later deadline that started just before 0
  for (std::size_t j = 0; j < tasks.size(); ++j) {
    if (j != i && tasks[j].deadline > due) {
      blocking = std::max(blocking, tasks[j].wcet);
    }
  }
  const Ticks constant =
      sum(sum(blocking, own.blocking), product(floor_div(a + own.jitter, own.period), own.wcet));
  const auto work = [&](Ticks t) {
    Ticks total = constant;
    for (std::size_t j = 0; j < tasks.size(); ++j) {
      if (j == i) {
        continue;
      }
      const Task& task = tasks[j];
      const Ticks jobs = std::min((t + task.jitter) / task.period + 1, jobs_due(task, due));
      total = sum(total, product(jobs, task.wcet));
    }
    return total;
  };
  const auto start = detail::fixed_point(constant, 4 * tasks.size(), budget, work);
  return start ? std::optional(*start + own.wcet) : std::nullopt;
}

std::optional<Ticks> nonpreemptive_response(std::span<const Task> tasks, std::size_t i, Ticks busy,
                                            Budget& budget) {
  return detail::worst_response(tasks, i, busy, budget,
                                [&](Ticks a) { return nonpreemptive_end(tasks, i, a, budget); });
}

}  // namespace

TaskSetResult edf_nonpreemptive(std::span<const Task> tasks, Effort effort) {
  detail::check_tasks_without_suspension(tasks, "non-preemptive scheduling");
  TaskSetResult result;
  result.tasks.resize(tasks.size());
  detail::Load load;
  Ticks blocking = 0;
  for (const Task& task : tasks) {
    load.add(task.wcet, task.period);
    blocking = std::max(blocking, task.blocking);
  }
  Budget budget(effort);
  const bool overload = load.compare_with_one() > 0;
  const auto busy = overload ? std::nullopt : detail::busy_period(tasks, load, blocking, budget);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    TaskResult& task = result.tasks[i];
    if (overload) {
      task.schedulable = Answer::kNo;
      task.note = "the load is more than the core: no bound exists";
      continue;
    }
    task.response = busy ? nonpreemptive_response(tasks, i, *busy, budget) : std::nullopt;
    task.exact = task.response.has_value();
    if (task.response) {
      task.schedulable = *task.response <= tasks[i].deadline ? Answer::kYes : Answer::kNo;
    } else {
      task.note = "the response-time analysis took too long";
    }
  }
  result.schedulable = detail::all_of(result.tasks);
  return result;
}

}  // namespace rclrt::analysis
