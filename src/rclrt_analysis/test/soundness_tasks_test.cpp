// SPDX-License-Identifier: Apache-2.0
// Compares the response-time analysis of task sets with the simulator, over random sets.
#include <gtest/gtest.h>

#include "rclrt/analysis/edf.hpp"
#include "rclrt/analysis/fixed_priority.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "soundness.hpp"

namespace rclrt::analysis::test {
namespace {

/// Returns two to six tasks with small numbers, so that releases often coincide; U up to 1.
std::vector<Task> random_tasks(SimulationRandom& random, bool with_jitter, bool equal_levels) {
  std::vector<Task> tasks(static_cast<std::size_t>(random.uniform(2, 6)));
  double left = 1.0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Task& task = tasks[i];
    task.id = "t" + std::to_string(i);
    task.period = random.uniform(4, 40);
    const auto most = static_cast<Ticks>(left * static_cast<double>(task.period));
    if (most == 0) {
      tasks.resize(i);
      break;
    }
    task.wcet = std::min(random.uniform(1, std::max<Ticks>(1, task.period / 3)), most);
    left -= static_cast<double>(task.wcet) / static_cast<double>(task.period);
    task.deadline = 1'000'000;  // only the bound is of interest
    task.priority = static_cast<int>(random.uniform(0, equal_levels ? 2 : 1'000'000));
    task.jitter = with_jitter && chance(random, 0.5) ? random.uniform(0, 2 * task.period) : 0;
  }
  return tasks;
}

enum class Phases { kTogether, kRandom, kLessUrgentJustStarted };

SimulatedSystem simulated_tasks(const std::vector<Task>& tasks, ExecutorKind kind, Phases phases,
                                std::size_t observed, SimulationRandom& random) {
  SimulatedSystem system;
  system.executors.push_back({.choice = kind, .preempts_by_absolute_deadline = true});
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    SimulatedCallback callback;
    callback.level = task.priority;
    callback.deadline_ns = task.deadline;  // the deadline that EDF uses
    callback.execution = TimeDistribution::constant(task.wcet);
    TimerTrigger timer{.period_ns = task.period, .depth = 100'000};
    if (phases == Phases::kRandom) {
      timer.offset_ns = random.uniform(0, task.period - 1);
    } else if (phases == Phases::kLessUrgentJustStarted) {
      timer.offset_ns = i == observed ? 0 : 1;
    }
    if (task.jitter > 0) {
      // The worst case is a late release followed by punctual ones; but any is allowed.
      timer.jitter = chance(random, 0.5) ? TimeDistribution::list({task.jitter, 0, 0, 0, 0, 0, 0})
                                         : TimeDistribution::uniform(0, task.jitter);
    }
    callback.trigger = timer;
    system.callbacks.push_back(std::move(callback));
  }
  return system;
}

struct Trial {
  const char* name;
  ExecutorKind executor;
  TaskSetResult (*analyse)(std::span<const Task>);
  bool jitter;
  bool equal_levels;
  bool deadlines = false;  // near the periods, instead of never
};

void PrintTo(const Trial& trial, std::ostream* out) { *out << trial.name; }

class TaskBounds : public testing::TestWithParam<Trial> {};

TEST_P(TaskBounds, are_never_exceeded_by_the_simulation) {
  const Trial& trial = GetParam();
  Tightness tightness;
  for (const std::uint64_t seed : seeds(trials(400))) {
    SimulationRandom random(seed);
    std::vector<Task> tasks = random_tasks(random, trial.jitter, trial.equal_levels);
    for (Task& task : tasks) {
      task.deadline = trial.deadlines ? random.uniform(task.wcet, 2 * task.period) : task.deadline;
    }
    const TaskSetResult result = trial.analyse(tasks);
    std::vector<std::int64_t> worst(tasks.size());
    for (std::size_t phasing = 0; phasing < 4 + tasks.size(); ++phasing) {
      const Phases phases = phasing == 0  ? Phases::kTogether
                            : phasing < 4 ? Phases::kRandom
                                          : Phases::kLessUrgentJustStarted;
      const auto system = simulated_tasks(tasks, trial.executor, phases, phasing - 4, random);
      const auto simulated = simulate(system, {.horizon_ns = 4000, .seed = seed});
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        worst[i] = std::max(worst[i], simulated.callbacks[i].response.worst_ns);
      }
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (result.tasks[i].response) {
        ASSERT_LE(worst[i], *result.tasks[i].response) << "seed " << seed << ", task " << i;
        tightness.add(*result.tasks[i].response, worst[i]);
      }
    }
  }
  EXPECT_GT(tightness.count(), 0U);
  tightness.print(trial.name);
}

// If nothing depends on the phases, the simulation reaches the bound.
TEST(ExactTaskBounds, are_reached_when_all_are_released_together) {
  for (const std::uint64_t seed : seeds(trials(400))) {
    SimulationRandom random(seed);
    const std::vector<Task> tasks = random_tasks(random, false, false);
    const TaskSetResult result = fixed_priority_preemptive(tasks);
    const auto simulated =
        simulate(simulated_tasks(tasks, ExecutorKind::kPreemptive, Phases::kTogether, 0, random),
                 {.horizon_ns = 40'000});
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (result.tasks[i].exact && result.tasks[i].response) {
        ASSERT_EQ(simulated.callbacks[i].response.worst_ns, *result.tasks[i].response)
            << "seed " << seed << ", task " << i;
      }
    }
  }
}

constexpr Trial kTrials[] = {
    {"preemptive", ExecutorKind::kPreemptive,
     [](std::span<const Task> tasks) { return fixed_priority_preemptive(tasks); }, false, false},
    {"preemptive_with_jitter", ExecutorKind::kPreemptive,
     [](std::span<const Task> tasks) { return fixed_priority_preemptive(tasks); }, true, false},
    {"preemptive_with_equal_levels", ExecutorKind::kPreemptive,
     [](std::span<const Task> tasks) { return fixed_priority_preemptive(tasks); }, true, true},
    {"nonpreemptive", ExecutorKind::kFixedPriorityNonPreemptive,
     [](std::span<const Task> tasks) { return fixed_priority_nonpreemptive(tasks); }, false, false},
    {"nonpreemptive_with_jitter", ExecutorKind::kFixedPriorityNonPreemptive,
     [](std::span<const Task> tasks) { return fixed_priority_nonpreemptive(tasks); }, true, false},
    {"nonpreemptive_with_equal_levels", ExecutorKind::kFixedPriorityNonPreemptive,
     [](std::span<const Task> tasks) { return fixed_priority_nonpreemptive(tasks); }, true, true},
    {"edf", ExecutorKind::kEdf, [](std::span<const Task> tasks) { return edf_preemptive(tasks); },
     false, false, true},
    {"edf_with_jitter", ExecutorKind::kEdf,
     [](std::span<const Task> tasks) { return edf_preemptive(tasks); }, true, false, true},
    {"edf_nonpreemptive", ExecutorKind::kEdfNonPreemptive,
     [](std::span<const Task> tasks) { return edf_nonpreemptive(tasks); }, false, false, true},
    {"edf_nonpreemptive_with_jitter", ExecutorKind::kEdfNonPreemptive,
     [](std::span<const Task> tasks) { return edf_nonpreemptive(tasks); }, true, false, true},
};

INSTANTIATE_TEST_SUITE_P(, TaskBounds, testing::ValuesIn(kTrials),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace rclrt::analysis::test
