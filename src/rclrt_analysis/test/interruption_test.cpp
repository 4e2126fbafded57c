// SPDX-License-Identifier: Apache-2.0
/// A caller can end long work: an exception of InterruptCheck passes through.
#include <gtest/gtest.h>

#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/assign.hpp"
#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/sensitivity.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

struct Stopped {};

void stop() { throw Stopped(); }

constexpr Effort kStopped{.check_interrupt = stop};

model::Application application() {
  return Builder()
      .timer("a", 10, 6)
      .subscription("b", "a", 1)
      .timer("c", 20, 2)
      .chain("first", {"a", "b"}, 2, 5)
      .chain("second", {"c"}, 1)
      .done();
}

TEST(Interruption, EndsTheBoundsOfEachExecutor) {
  for (const ExecutorKind executor :
       {ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer, ExecutorKind::kThreadDispatch,
        ExecutorKind::kEdf, ExecutorKind::kWaitSet}) {
    EXPECT_THROW(chain_bounds(application(), executor, {}, kStopped), Stopped);
    EXPECT_THROW(queue_bounds(application(), executor, {}, kStopped), Stopped);
    const Overheads hops{.near = {0, 1000}, .far = {0, 1000}};  // each callback by itself
    EXPECT_THROW(chain_bounds(application(), executor, hops, kStopped), Stopped);
  }
}

TEST(Interruption, EndsTheAnalysisOfTasksUnderEachPolicy) {
  const std::vector<Task> tasks(2, Task{.id = "a", .wcet = 2, .period = 6, .deadline = 6});
  for (const Policy policy :
       {Policy::kFpPreemptive, Policy::kFpNonpreemptive, Policy::kFpLimitedPreemptive, Policy::kEdf,
        Policy::kEdfNonpreemptive}) {
    EXPECT_THROW(analyse_tasks(tasks, policy, kStopped), Stopped);
    EXPECT_THROW(sensitivity(tasks, policy, kStopped), Stopped);
  }
  EXPECT_THROW(assign_priorities(tasks, Policy::kFpPreemptive, kStopped), Stopped);
}

TEST(Interruption, EndsWhatIsSearched) {
  EXPECT_THROW(assign(application(), {.check_interrupt = stop}), Stopped);
  EXPECT_THROW(sensitivity(application(), ExecutorKind::kPreemptive, {}, kStopped), Stopped);
  const Search search{
      .executor = ExecutorKind::kPreemptive, .overheads = {}, .effort = {.check_interrupt = stop}};
  EXPECT_THROW(find_counter_examples(application(), {true, true}, search), Stopped);
  const std::vector<Task> tasks(2, Task{.id = "a", .wcet = 4, .period = 6, .deadline = 6});
  EXPECT_THROW(find_counter_examples(tasks, Policy::kEdf, {true, true}, {.check_interrupt = stop}),
               Stopped);
}

TEST(Interruption, ComesAgainAndAgainWhileASimulationGoesOn) {
  static int calls = 0;
  const auto system = simulated_system(application(), ExecutorKind::kPreemptive);
  simulate(system, {.horizon_ns = ms(100'000).count(), .check_interrupt = [] { ++calls; }});
  EXPECT_GT(calls, 5);  // 25,000 instances
}

}  // namespace
}  // namespace rclrt::analysis
