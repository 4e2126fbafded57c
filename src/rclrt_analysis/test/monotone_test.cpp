// SPDX-License-Identifier: Apache-2.0
/// More execution time, jitter, blocking or latency never shortens a bound, over random
/// applications and task sets.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "random_application.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "soundness.hpp"

namespace rclrt::analysis {
namespace {

constexpr std::array kExecutors{ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer,
                                ExecutorKind::kEdf, ExecutorKind::kWaitSet};

/// Expects that bounds do not become shorter when `more` makes a time of the application or the
/// machine longer.
void expect_monotone(
    const std::function<void(RandomApplication&, model::Application&, Overheads&)>& more) {
  std::size_t grown = 0;
  for (const std::uint64_t seed : test::seeds(test::trials(60))) {
    for (const ExecutorKind executor : kExecutors) {
      RandomApplication random(seed);
      model::Application application = random.make();
      if (seed % 3 == 0) {
        random.spread(application, executor != ExecutorKind::kEdf);
      }
      if (executor == ExecutorKind::kEdf) {
        random.add_deadlines(application);
      }
      Overheads overheads;
      const auto before = chain_bounds(application, executor, overheads);
      more(random, application, overheads);
      const auto after = chain_bounds(application, executor, overheads);
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (!after[i].bound) {
          continue;
        }
        ASSERT_TRUE(before[i].bound) << "seed " << seed << "\n" << describe(application);
        ASSERT_LE(*before[i].bound, *after[i].bound)
            << "seed " << seed << ", " << application.chains[i].id << ", executor "
            << static_cast<int>(executor) << "\n"
            << describe(application);
        grown += *before[i].bound < *after[i].bound ? 1 : 0;
      }
    }
  }
  EXPECT_GT(grown, 0U);
}

TEST(Monotone, ChainBoundsInAnExecutionTime) {
  expect_monotone([](RandomApplication& random, model::Application& application, Overheads&) {
    const auto which = static_cast<std::size_t>(
        random.uniform(0, static_cast<double>(application.callbacks.size()) - 0.001));
    application.callbacks[which].wcet += ms(random.uniform(0.001, 0.5));
  });
}

TEST(Monotone, ChainBoundsInTheJitterOfTimers) {
  expect_monotone([](RandomApplication& random, model::Application&, Overheads& overheads) {
    overheads.timer_jitter = ms(random.uniform(0.001, 1)).count();
  });
}

// Only a callback in a group with the chain blocks it.
TEST(Monotone, ChainBoundsInTheBlockingByAGroup) {
  expect_monotone([](RandomApplication& random, model::Application& application, Overheads&) {
    for (model::Callback& callback : application.callbacks) {
      if (callback.group) {
        callback.wcet += ms(random.uniform(0.001, 0.5));
      }
    }
  });
}

TEST(Monotone, ChainBoundsInOverheadsAndHops) {
  expect_monotone([](RandomApplication& random, model::Application&, Overheads& overheads) {
    overheads.dispatch = ms(random.uniform(0.001, 0.05)).count();
    overheads.scheduler = ms(random.uniform(0.001, 0.05)).count();
    overheads.polling = ms(random.uniform(0.001, 0.05)).count();
    overheads.far.max = ms(random.uniform(0.001, 1)).count();
  });
}

TEST(Monotone, ResponsesOfTasksInExecutionTimeJitterAndBlocking) {
  std::mt19937_64 random;
  const auto between = [&](Ticks low, Ticks high) {
    return std::uniform_int_distribution<Ticks>(low, high)(random);
  };
  std::size_t grown = 0;
  for (const std::uint64_t trial : test::seeds(test::trials(1000))) {
    random.seed(trial);
    for (const Policy policy : {Policy::kFpPreemptive, Policy::kFpNonpreemptive, Policy::kEdf,
                                Policy::kEdfNonpreemptive}) {
      std::vector<Task> tasks(static_cast<std::size_t>(between(2, 5)));
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        Task& task = tasks[i];
        task.id = std::to_string(i);
        task.period = between(10, 60);
        task.deadline = between(task.period / 2, 2 * task.period);
        task.wcet = between(1, task.period / 4);
        task.jitter = between(0, 5);
        task.blocking = between(0, 3);
        task.priority = static_cast<int>(between(0, 3));
      }
      const TaskSetResult before = analyse_tasks(tasks, policy);
      Task& one = tasks[static_cast<std::size_t>(between(0, static_cast<Ticks>(tasks.size()) - 1))];
      const std::array values{&one.wcet, &one.jitter, &one.blocking};
      *values.at(static_cast<std::size_t>(between(0, 2))) += between(1, 3);
      const TaskSetResult after = analyse_tasks(tasks, policy);
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!after.tasks[i].response) {
          continue;
        }
        ASSERT_TRUE(before.tasks[i].response) << "trial " << trial;
        ASSERT_LE(*before.tasks[i].response, *after.tasks[i].response)
            << "trial " << trial << ", task " << i << ", policy " << static_cast<int>(policy);
        grown += *before.tasks[i].response < *after.tasks[i].response ? 1 : 0;
      }
    }
  }
  EXPECT_GT(grown, 0U);
}

}  // namespace
}  // namespace rclrt::analysis
