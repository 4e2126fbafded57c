// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include "first_misses.hpp"
#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

/// Half a century: the simulator accepts no time above a century.
constexpr std::int64_t kLongest_ns = std::int64_t{18'250} * 86'400 * 1'000'000'000;
/// The most jobs that an untrusted file may request.
constexpr std::uint64_t kLongestReplay = 50'000'000;
constexpr std::size_t kManyJobs = 1'000'000;

std::optional<ExecutorKind> kind_of(Policy policy) {
  switch (policy) {
    case Policy::kFpPreemptive:
      return ExecutorKind::kPreemptive;
    case Policy::kFpNonpreemptive:
      return ExecutorKind::kFixedPriorityNonPreemptive;
    case Policy::kEdf:
      return ExecutorKind::kEdf;
    case Policy::kEdfNonpreemptive:
      return ExecutorKind::kEdfNonPreemptive;
    case Policy::kFpLimitedPreemptive:
      break;
  }
  return std::nullopt;
}

/// Returns a system with a chain for each task. A tick is simulated as a nanosecond.
SimulatedSystem system_of(std::span<const Task> tasks, ExecutorKind kind) {
  SimulatedSystem system;
  system.executors.push_back({.choice = kind, .preempts_by_absolute_deadline = true});
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    SimulatedCallback callback;
    callback.level = tasks[i].priority;
    callback.deadline_ns = tasks[i].deadline;  // the deadline that EDF uses
    callback.execution = TimeDistribution::constant(tasks[i].wcet);
    callback.trigger = TimerTrigger{
        .period_ns = tasks[i].period, .offset_ns = 0, .depth = kManyJobs, .jitter = {}};
    system.callbacks.push_back(std::move(callback));
    system.chains.push_back({{i}, tasks[i].deadline});
  }
  return system;
}

void set_up(SimulatedSystem& system, const TaskCounterExample& example) {
  for (std::size_t i = 0; i < system.callbacks.size(); ++i) {
    auto& timer = std::get<TimerTrigger>(system.callbacks[i].trigger);
    timer.offset_ns = example.offsets[i];
    timer.jitter = {};
    if (example.jitter[i] > 0) {
      std::vector<std::int64_t> late(kJitterCycle);
      late.front() = example.jitter[i];
      timer.jitter = TimeDistribution::list(std::move(late));
    }
  }
}

/// Returns the arrivals per tick.
double rate_of(std::span<const Task> tasks) {
  double rate = 0;
  for (const Task& task : tasks) {
    rate += 1.0 / static_cast<double>(task.period);
  }
  return rate;
}

/// Returns a time in ticks in which about `jobs` jobs are released. It is extended by the longest
/// period if that makes it at most ten times as long.
std::int64_t horizon(std::span<const Task> tasks, double jobs) {
  const double rate = rate_of(tasks);
  const auto longest = static_cast<double>(std::ranges::max(tasks, {}, &Task::period).period);
  const double time = std::min(jobs / rate + longest, 10 * jobs / rate);
  return static_cast<std::int64_t>(std::min(time, static_cast<double>(kLongest_ns)));
}

class TaskSearcher {
 public:
  TaskSearcher(std::span<const Task> tasks, ExecutorKind kind, const std::vector<bool>& wanted,
               const SearchEffort& effort)
      : tasks_(tasks),
        random_(effort.seed),
        left_(effort.instances),
        per_trial_(effort.per_trial),
        check_interrupt_(effort.check_interrupt),
        system_(system_of(tasks, kind)),
        horizon_(horizon(tasks, static_cast<double>(effort.per_trial))),
        found_(tasks.size()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (wanted[i] && tasks[i].deadline > 0) {
        open_.push_back(i);
      }
    }
  }

  std::vector<std::optional<TaskCounterExample>> run() {
    TaskCounterExample together{.offsets = std::vector<Ticks>(tasks_.size()),
                                .jitter = std::vector<Ticks>(tasks_.size())};
    attempt(together);
    // The worst case for each task: all more urgent tasks are late and arrive at the same time.
    const std::int64_t latest = std::ranges::max(tasks_, {}, &Task::jitter).jitter;
    TaskCounterExample late = together;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      late.jitter[i] = tasks_[i].jitter;
      late.offsets[i] = latest - tasks_[i].jitter;
    }
    attempt(late);
    for (const std::size_t task : std::vector(open_)) {
      TaskCounterExample after = late;
      ++after.offsets[task];
      attempt(after);
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        if (tasks_[i].priority >= tasks_[task].priority) {
          after.offsets[i] = late.offsets[i] + 1;
        }
      }
      attempt(after);
    }
    while (!open_.empty() && left_ > 0) {
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        together.offsets[i] = random_.uniform(0, tasks_[i].period - 1);
        together.jitter[i] = random_.uniform(0, 1) * tasks_[i].jitter;
      }
      attempt(together);
    }
    return std::move(found_);
  }

 private:
  void attempt(TaskCounterExample example) {
    if (open_.empty() || left_ == 0) {
      return;
    }
    set_up(system_, example);
    detail::FirstMisses misses(system_);
    const auto result = simulate(system_,
                                 {.horizon_ns = horizon_,
                                  .max_instances = std::min(left_, 2 * per_trial_),
                                  .check_interrupt = check_interrupt_},
                                 &misses);
    left_ -= std::min(left_, result.instances + 1 + tasks_.size() / 8);
    std::erase_if(open_, [&](std::size_t task) {
      const auto& miss = misses.miss(task);
      if (!miss) {
        return false;
      }
      example.task = task;
      example.job = miss->instance;
      example.arrival = miss->release_ns;
      example.response = miss->end_ns - miss->release_ns;
      found_[task] = example;
      return true;
    });
  }

  std::span<const Task> tasks_;
  SimulationRandom random_;
  std::uint64_t left_;  // jobs
  std::uint64_t per_trial_;
  InterruptCheck check_interrupt_;
  SimulatedSystem system_;
  std::int64_t horizon_;
  std::vector<std::optional<TaskCounterExample>> found_;
  std::vector<std::size_t> open_;
};

}  // namespace

std::vector<std::optional<TaskCounterExample>> find_counter_examples(
    std::span<const Task> tasks, Policy policy, const std::vector<bool>& wanted,
    const SearchEffort& effort) {
  if (wanted.size() != tasks.size()) {
    throw std::invalid_argument("expected one flag per task");
  }
  const auto kind = kind_of(policy);
  if (!kind || tasks.empty()) {
    return std::vector<std::optional<TaskCounterExample>>(tasks.size());
  }
  return TaskSearcher(tasks, *kind, wanted, effort).run();
}

std::optional<Ticks> replay(std::span<const Task> tasks, Policy policy,
                            const TaskCounterExample& example, InterruptCheck check_interrupt) {
  const auto kind = kind_of(policy);
  if (!kind || example.offsets.size() != tasks.size() || example.jitter.size() != tasks.size() ||
      example.task >= tasks.size()) {
    throw std::invalid_argument("the counter-example belongs to another task set");
  }
  SimulatedSystem system = system_of(tasks, *kind);
  set_up(system, example);
  detail::InstanceEnd end(system, example.task, example.job);
  const auto horizon_ns =
      std::min(example.arrival + std::min(example.response, kLongest_ns), kLongest_ns) + 1;
  if (rate_of(tasks) * static_cast<double>(horizon_ns) > static_cast<double>(kLongestReplay)) {
    throw std::invalid_argument("the counter-example takes more than 50 million jobs");
  }
  simulate(system,
           {.horizon_ns = horizon_ns,
            .max_instances = kLongestReplay,
            .check_interrupt = check_interrupt},
           &end);
  return end.response_ns();
}

}  // namespace rclrt::analysis
