// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/refute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "application_builder.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"

namespace rclrt::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr SearchEffort kLittle{.instances = 200'000};

Refutation refuted(const model::Application& application, const Machine& machine = {}) {
  return refute(
      application, judge(application, ExecutorKind::kPreemptive, machine),
      {.executor = ExecutorKind::kPreemptive, .overheads = machine.overheads, .effort = kLittle});
}

/// Its second chain takes 10 ms and has 9.
model::Application with_a_late_chain() {
  return Builder()
      .timer("a", 10, 6)
      .timer("b", 10, 4)
      .chain("first", {"a"}, 2)
      .chain("second", {"b"}, 1, 9)
      .done();
}

TEST(Refute, AChainWithACounterExampleIsRefutedAndAProvedOneStaysProved) {
  const Refutation found = refuted(with_a_late_chain());
  const auto& chains = found.judgement.chains;
  EXPECT_EQ(chains[0].verdict, Verdict::kProved);
  EXPECT_FALSE(found.examples[0]);
  EXPECT_EQ(chains[1].verdict, Verdict::kRefuted);
  EXPECT_EQ(chains[1].note, "misses in simulation: released at 0 ms, it takes 10 ms");
  ASSERT_TRUE(found.examples[1]);
  EXPECT_EQ(found.examples[1]->response_ns, ms(10).count());
  EXPECT_FALSE(found.judgement.feasible);
}

// Teper et al., "Reconciling ROS 2 with classical real-time scheduling of periodic tasks",
// EMSOFT 2024: a busy group is left out of every ready set that two threads form.
TEST(Refute, ACallbackOfABusyGroupMayNeverRunUnderAWaitSetOfSeveralThreads) {
  const auto two_threads = model::parse_executor("wait_set:threads=2");
  const Search search{.executor = two_threads, .effort = kLittle};
  const auto with_equal_periods = Builder()
                                      .timer("t1", 1000, 1000)
                                      .group("g1")
                                      .timer("t2", 1000, 500)
                                      .group("g1")
                                      .timer("t3", 1000, 500)
                                      .group("g2")
                                      .chain("first", {"t1"}, 0, 2500)
                                      .chain("starved", {"t2"}, 0, 3000)
                                      .done();
  const auto with_a_rare_timer = Builder()
                                     .timer("t1", 500, 333)
                                     .group("g1")
                                     .timer("t2", 500, 333)
                                     .group("g2")
                                     .timer("t3", 500, 334)
                                     .group("g3")
                                     .timer("t4", 5000, 1)
                                     .group("g3")
                                     .chain("often", {"t1"}, 0, 1500)
                                     .chain("starved", {"t4"}, 0, 5000)
                                     .done();
  const auto with_a_subscription = Builder()
                                       .timer("t1", 1000, 1000)
                                       .group("g1")
                                       .timer("t3", 1000, 500)
                                       .group("g2")
                                       .subscription("s", "t3", 500)
                                       .group("g1")
                                       .chain("first", {"t1"}, 0, 2500)
                                       .chain("starved", {"t3", "s"}, 0, 3000)
                                       .done();
  for (model::Application application :
       {with_equal_periods, with_a_rare_timer, with_a_subscription}) {
    application.executors[0].cpus = {0, 1};
    const Refutation found =
        refute(application, judge(application, two_threads, Machine{}), search);
    const auto& chains = found.judgement.chains;
    EXPECT_THAT(judge(application, two_threads, Machine{}).chains[1].note,
                HasSubstr("callbacks of a group may keep another member of it from running"));
    EXPECT_EQ(chains[1].verdict, Verdict::kRefuted);
    const std::string& starved = application.callbacks[application.chains[1].callbacks.back()].id;
    EXPECT_THAT(chains[1].note, HasSubstr("may never run: '" + starved + "' waits"));
    ASSERT_TRUE(found.examples[1]);
    EXPECT_TRUE(found.examples[1]->never_runs);
    EXPECT_EQ(replay(application, *found.examples[1]), found.examples[1]->response_ns);
    EXPECT_FALSE(found.judgement.feasible);
  }
}

TEST(Refute, AnExecutorWithoutBoundsThatStatesNoCpuIsRefutedOnOneCpuOnly) {
  auto application = Builder()
                         .timer("a", 10, 7)
                         .timer("b", 10, 7)
                         .chain("first", {"a"}, 0, 10)
                         .chain("second", {"b"}, 0, 10)
                         .done();
  const auto two_threads = model::parse_executor("wait_set:threads=2");
  application.executors[0].cpus.clear();
  const Refutation found = refute(application, judge(application, two_threads, Machine{}),
                                  {.executor = two_threads, .effort = kLittle});
  EXPECT_EQ(found.judgement.chains[1].verdict, Verdict::kRefuted);
  EXPECT_THAT(found.judgement.chains[1].assumptions,
              ElementsAre("executor 'main' runs on one CPU (cpus: [n])"));
  application.executors[0].cpus = {0, 1};
  EXPECT_THAT(judge(application, two_threads, Machine{}).chains[1].assumptions, IsEmpty());
}

TEST(Refute, WithoutAnUnknownVerdictNothingIsSearched) {
  const auto application = Builder().timer("a", 10, 6).chain("only", {"a"}, 1).done();
  const Refutation found = refuted(application);
  EXPECT_EQ(found.judgement.chains[0].verdict, Verdict::kProved);
  EXPECT_TRUE(found.judgement.feasible);
  EXPECT_FALSE(found.examples.at(0));
  EXPECT_THAT(found.left_out, IsEmpty());
}

// Background work takes half of the time in the bound, and none in the simulation.
TEST(Refute, TheOverheadsThatTheSearchLeavesOutAreNamedIfAVerdictIsStillUnknown) {
  const auto application = Builder().timer("a", 10, 4).chain("only", {"a"}, 1, 4.5).done();
  const Machine machine{.overheads = {.background = ms(0.5).count()}};
  const Refutation found = refuted(application, machine);
  EXPECT_EQ(found.judgement.chains[0].verdict, Verdict::kUnknown);
  EXPECT_THAT(found.left_out, ElementsAre("background"));
}

TEST(Refute, AnApplicationThatCannotBeSimulatedHasAReason) {
  auto application = with_a_late_chain();
  application.executors[0].cpus.clear();
  for (int cpu = 0; cpu < 65; ++cpu) {
    application.executors[0].cpus.push_back(cpu);
  }
  application.chains[1].deadline = std::chrono::nanoseconds(1);  // 65 CPUs keep the stated one
  const Refutation found = refuted(application);
  EXPECT_THAT(found.not_searched, HasSubstr("CPU"));
  EXPECT_EQ(found.judgement.chains[1].verdict, Verdict::kUnknown);
}

// Lehoczky 1990, example 3: a later job of the second task takes 118.
TEST(Refute, ATaskWithACounterExampleIsNotSchedulable) {
  std::vector<Task> tasks(2);
  tasks[0] = {.id = "a", .wcet = 26, .period = 70, .deadline = 70, .priority = 2};
  tasks[1] = {.id = "b", .wcet = 62, .period = 100, .deadline = 116, .priority = 1};
  TaskSetResult unknown = analyse_tasks(tasks, Policy::kFpPreemptive);
  unknown.tasks[1].schedulable = unknown.schedulable = Answer::kUnknown;
  const TaskRefutation found = refute(tasks, Policy::kFpPreemptive, unknown, kLittle);
  EXPECT_EQ(found.result.tasks[0].schedulable, Answer::kYes);
  EXPECT_FALSE(found.examples[0]);
  EXPECT_EQ(found.result.tasks[1].schedulable, Answer::kNo);
  ASSERT_TRUE(found.examples[1]);
  EXPECT_EQ(found.examples[1]->response, 118);
  EXPECT_EQ(found.result.schedulable, Answer::kNo);
  EXPECT_EQ(verdict_of(found.result.schedulable), Verdict::kRefuted);
}

}  // namespace
}  // namespace rclrt::analysis
