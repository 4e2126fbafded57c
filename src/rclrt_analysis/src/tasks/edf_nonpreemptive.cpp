// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "rclrt/analysis/edf.hpp"
#include "tasks/check_tasks.hpp"
#include "tasks/edf_response.hpp"
#include "tasks/levels.hpp"

namespace rclrt::analysis {
namespace {

using detail::Budget;
using detail::floor_div;
using detail::jobs_due;
using detail::product;
using detail::sum;

/// Returns the latest end of the job of task i that arrives `a` after the start of the busy period,
/// under EDF without preemption. George et al. 1996, theorem 15. nullopt if it has no bound or the
/// budget ends.
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

}  // namespace

TaskSetResult edf_nonpreemptive(std::span<const Task> tasks, Effort effort) {
  detail::check_tasks_without_suspension(tasks, "non-preemptive scheduling");
  Budget budget(effort);
  return detail::bound_responses(tasks, budget, [&](std::size_t i, Ticks a) {
    return nonpreemptive_end(tasks, i, a, budget);
  });
}

}  // namespace rclrt::analysis
