// SPDX-License-Identifier: Apache-2.0
// Preemptive EDF with the stack resource policy on one CPU, in ticks, by the textbook's rules
// (Buttazzo, Hard Real-Time Computing Systems, sections 4.4 and 7.8), for comparison.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace rclrt::executor::test {

/// Times in ticks.
struct Task {
  int work = 1;
  int period = 1;
  int deadline = 1;
  int offset = 0;
  int group = -1;  ///< members exclude each other; negative: no group
};

inline constexpr int kIdle = -1;

/// One release of a task.
struct Job {
  int task = 0;
  int number = 0;
  int release = 0;
  int deadline = 0;
  int left = 0;
  int start = -1;
  int end = -1;
};

struct Schedule {
  std::vector<int> trace;  ///< which task ran in each tick
  std::vector<int> ran;    ///< which job ran in each tick
  std::vector<Job> jobs;

  bool misses() const {
    const int end = static_cast<int>(trace.size());
    return std::any_of(jobs.begin(), jobs.end(), [end](const Job& job) {
      return job.end >= 0 ? job.end > job.deadline : job.deadline <= end;
    });
  }
};

/// Returns the schedule. Among equal deadlines a started job goes first, then the earlier release.
inline Schedule reference_edf(const std::vector<Task>& tasks, int ticks) {
  Schedule result;
  std::vector<std::size_t> started;  // the stack
  std::vector<std::size_t> ready;
  std::map<int, int> ceiling;  // of each group: the shortest relative deadline
  for (const Task& task : tasks) {
    const auto place = ceiling.try_emplace(task.group, INT_MAX).first;
    place->second = std::min(place->second, task.deadline);
  }
  auto& jobs = result.jobs;
  for (int now = 0; now < ticks; ++now) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Task& task = tasks[i];
      if (now >= task.offset && (now - task.offset) % task.period == 0) {
        ready.push_back(jobs.size());
        jobs.push_back({static_cast<int>(i), (now - task.offset) / task.period, now,
                        now + task.deadline, task.work});
      }
    }
    const auto earlier = [&](std::size_t a, std::size_t b) {
      return std::tuple(jobs[a].deadline, jobs[a].release, a) <
             std::tuple(jobs[b].deadline, jobs[b].release, b);
    };
    const auto first = std::min_element(ready.begin(), ready.end(), earlier);
    if (first != ready.end()) {
      int system_ceiling = INT_MAX;
      for (const std::size_t each : started) {
        const int group = tasks[static_cast<std::size_t>(jobs[each].task)].group;
        system_ceiling = std::min(system_ceiling, group < 0 ? INT_MAX : ceiling[group]);
      }
      const int relative = jobs[*first].deadline - jobs[*first].release;
      if (started.empty() ||
          (jobs[*first].deadline < jobs[started.back()].deadline && relative < system_ceiling)) {
        jobs[*first].start = now;
        started.push_back(*first);
        ready.erase(first);
      }
    }
    result.ran.push_back(started.empty() ? kIdle : static_cast<int>(started.back()));
    result.trace.push_back(started.empty() ? kIdle : jobs[started.back()].task);
    if (!started.empty() && --jobs[started.back()].left == 0) {
      jobs[started.back()].end = now + 1;
      started.pop_back();
    }
  }
  return result;
}

/// Returns the largest number of jobs with a later deadline that ran between a job's release and
/// its start.
inline int most_blocked(const Schedule& schedule) {
  std::size_t most = 0;
  for (const Job& job : schedule.jobs) {
    std::set<int> blocking;
    for (int now = job.release; now < job.start; ++now) {
      const int other = schedule.ran[static_cast<std::size_t>(now)];
      if (other != kIdle &&
          schedule.jobs[static_cast<std::size_t>(other)].deadline > job.deadline) {
        blocking.insert(other);
      }
    }
    most = std::max(most, blocking.size());
  }
  return static_cast<int>(most);
}

inline int between(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution(low, high)(random);
}

/// Returns two to six tasks with a load from light to above one, with groups or without.
inline std::vector<Task> random_tasks(std::mt19937& random, bool with_groups) {
  std::vector<Task> tasks(static_cast<std::size_t>(between(random, 2, 6)));
  for (Task& task : tasks) {
    task.period = between(random, 4, 24);
    task.work = between(random, 1, std::max(1, task.period / static_cast<int>(tasks.size())));
    task.deadline = between(random, task.work, task.period + 6);
    task.offset = between(random, 0, 10);
    task.group = with_groups ? between(random, -1, 1) : -1;
  }
  return tasks;
}

}  // namespace rclrt::executor::test
