// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <vector>

#include "rclrt/analysis/edf.hpp"
#include "tasks/check_tasks.hpp"
#include "tasks/edf_response.hpp"
#include "tasks/levels.hpp"

namespace rclrt::analysis {
namespace {

using detail::Budget;
using detail::ceil_div;
using detail::floor_div;
using detail::jobs_due;
using detail::product;
using detail::sum;

/// Returns the latest end of the job of task i that arrives `a` after the start of the busy period:
/// the end of the busy period of all jobs with deadlines up to this job's. Spuri 1996, equations 7
/// to 9. nullopt if it has no bound or the budget ends.
std::optional<Ticks> end_of_job(std::span<const Task> tasks, std::size_t i, Ticks a,
                                Budget& budget) {
  const Task& own = tasks[i];
  const Ticks due = a + own.deadline;
  const Ticks own_jobs = floor_div(a + own.jitter, own.period) + 1;
  const Ticks own_first = a - (own_jobs - 1) * own.period;
  const auto work = [&](Ticks t) {
    Ticks total = 0;
    Ticks blocking = 0;
    for (std::size_t j = 0; j < tasks.size(); ++j) {
      const Task& task = tasks[j];
      Ticks jobs = 0;
      if (j == i) {
        if (t > own_first) {
          jobs = std::min(ceil_div(t - own_first, own.period), own_jobs);
        }
      } else {
        jobs = std::min(ceil_div(t + task.jitter, task.period), jobs_due(task, due));
      }
      if (jobs > 0) {
        blocking = std::max(blocking, task.blocking);
      }
      total = sum(total, product(jobs, task.wcet));
    }
    return sum(total, blocking);
  };
  return detail::fixed_point(Ticks{1}, 4 * tasks.size(), budget, work);
}

/// Changes a result that was computed with suspension counted as computation. Its bound may never
/// be reached, so it is not exact, and a missed deadline becomes unknown.
void weaken(TaskResult& task) {
  task.note = task.response                     ? "suspension: the bound may not be reached"
              : task.schedulable == Answer::kNo ? detail::kSuspensionIsTooMuch
                                                : task.note;
  task.exact = false;
  task.schedulable = task.schedulable == Answer::kYes ? Answer::kYes : Answer::kUnknown;
}

}  // namespace

TaskSetResult edf_preemptive(std::span<const Task> tasks, Effort effort) {
  const Answer demand = edf_demand_test(tasks, Effort{effort.steps / 2, effort.check_interrupt});
  const bool suspends =
      std::ranges::any_of(tasks, [](const Task& task) { return task.suspension > 0; });
  std::vector<Task> whole(tasks.begin(), tasks.end());
  for (Task& task : whole) {
    task.wcet += task.suspension;
  }
  Budget budget({effort.steps / 2, effort.check_interrupt});
  TaskSetResult result = detail::bound_responses(
      whole, budget, [&](std::size_t i, Ticks a) { return end_of_job(whole, i, a, budget); });
  for (std::size_t i = 0; i < whole.size(); ++i) {
    TaskResult& task = result.tasks[i];
    if (suspends) {
      weaken(task);
    }
    if (!task.response && demand == Answer::kYes) {
      task.response = tasks[i].deadline;
      task.schedulable = Answer::kYes;
      task.note = "the response-time analysis took too long: the deadline, which holds";
    }
  }
  result.schedulable = demand == Answer::kUnknown ? detail::all_of(result.tasks) : demand;
  return result;
}

}  // namespace rclrt::analysis
