// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/fixed_priority.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tasks/check_tasks.hpp"
#include "tasks/levels.hpp"
#include "tasks/preemptive_level.hpp"

namespace rclrt::analysis {
namespace {

using detail::Budget;
using detail::Job;
using detail::PreemptiveLevel;
using detail::Response;

TaskResult to_result(const Task& task, const Response& response) {
  TaskResult result;
  result.response = response.value;
  result.exact = response.exact;
  result.note = response.note;
  if (response.unbounded || response.missed) {
    result.schedulable = Answer::kNo;
  } else if (response.value) {
    const bool in_time = *response.value <= task.deadline;
    // A bound that is not exact can prove that a deadline holds, but not that it is missed.
    result.schedulable = in_time ? Answer::kYes : response.exact ? Answer::kNo : Answer::kUnknown;
  }
  return result;
}

/// The levels of one task set; they are analysed twice when tasks suspend themselves.
class Preemptive {
 public:
  Preemptive(std::span<const Task> tasks, Effort effort)
      : tasks_(tasks),
        levels_(detail::levels_of(tasks)),
        region_below_(
            detail::longest_below(tasks, levels_, [](const Task& task) { return task.region; })),
        budget_(effort),
        computing_(effort.steps / 16),
        jittery_(effort.steps / 16),
        suspends_(std::ranges::any_of(tasks, [](const Task& t) { return t.suspension > 0; })) {}

  TaskSetResult run() {
    TaskSetResult result;
    result.tasks.resize(tasks_.size());
    for (const auto& level : levels_) {
      for (const std::size_t i : level) {
        executing_.add(tasks_[i].wcet, tasks_[i].period);
      }
      for (const std::size_t i : level) {
        result.tasks[i] = analyse(i, level);
      }
      for (const std::size_t i : level) {
        lower(i, result.tasks[i]);
      }
    }
    result.schedulable = detail::all_of(result.tasks);
    return result;
  }

 private:
  /// Returns the task as a job with suspension counted as computation.
  Job computing(std::size_t i) const {
    const Task& task = tasks_[i];
    return {task.wcet + task.suspension, task.period, task.jitter,
            detail::sum(task.blocking, region_below_[i])};
  }

  TaskResult analyse(std::size_t i, const std::vector<std::size_t>& level) {
    const Task& task = tasks_[i];
    std::vector<Job> peers;
    bool peers_suspend = false;
    for (const std::size_t k : level) {
      if (k == i) {
        continue;
      }
      peers.push_back(computing(k));
      peers_suspend |= tasks_[k].suspension > 0;
    }
    Job job = computing(i);
    // A job with no computation, too, ends only at a moment when no more urgent job is ready.
    job.wcet = std::max<Ticks>(job.wcet, 1);
    Response best = computing_.response(job, task.deadline, peers, budget_);
    if (!suspends_) {
      return finish(task, best, !peers.empty());
    }
    suspended_ |= task.suspension > 0 || peers_suspend;
    if (suspended_ && jitter_known_ && !peers_suspend) {
      const Response other = jittery_.response(job, task.deadline, peers, budget_);
      // The proof holds for jobs that end before the next one of their task arrives.
      const bool holds = other.value && *other.value <= task.period;
      if (holds && (!best.value || *other.value < *best.value)) {
        best = other;
      }
    }
    return finish(task, best, !peers.empty());
  }

  TaskResult finish(const Task& task, Response response, bool has_peers) const {
    if (suspended_ && response.unbounded && !(executing_.compare_with_one() > 0)) {
      response.unbounded = false;
      response.note = detail::kSuspensionIsTooMuch;
    }
    if (suspended_ && response.exact) {
      response.exact = false;
      response.note = "suspension: the bound may not be reached";
    } else if (has_peers && response.exact) {
      response.exact = false;
      response.note = "equal priorities: reached only if ties are broken against the task";
    }
    return to_result(task, response);
  }

  void lower(std::size_t i, const TaskResult& result) {
    const Job job = computing(i);
    computing_.add(job);
    if (!suspends_) {
      return;
    }
    const Task& task = tasks_[i];
    Job jittery{task.wcet, task.period, task.jitter, 0};
    if (task.suspension > 0) {
      if (result.response && *result.response <= task.period) {
        jittery.jitter = *result.response - task.wcet;
      } else {
        jitter_known_ = false;
      }
    }
    jittery_.add(jittery);
  }

  std::span<const Task> tasks_;
  std::vector<std::vector<std::size_t>> levels_;
  std::vector<Ticks> region_below_;
  Budget budget_;
  PreemptiveLevel computing_;  // suspension as computation
  PreemptiveLevel jittery_;    // suspension of more urgent tasks as jitter
  detail::Load executing_;     // of this level and those above
  bool suspends_;              // any task
  bool suspended_ = false;     // a task of this level or above suspends
  bool jitter_known_ = true;   // the jitter of all more urgent tasks that suspend is known
};

}  // namespace

TaskSetResult fixed_priority_preemptive(std::span<const Task> tasks, Effort effort) {
  detail::check_tasks(tasks);
  std::vector<Task> whole(tasks.begin(), tasks.end());
  for (Task& task : whole) {
    task.region = 0;
  }
  return Preemptive(whole, effort).run();
}

TaskSetResult fixed_priority_limited_preemptive(std::span<const Task> tasks, Effort effort) {
  detail::check_tasks_without_suspension(tasks, "limited preemption");
  return Preemptive(tasks, effort).run();
}

}  // namespace rclrt::analysis
