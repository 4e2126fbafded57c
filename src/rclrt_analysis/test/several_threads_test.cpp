// SPDX-License-Identifier: Apache-2.0
/// Bounds of executors of which several threads run callbacks in any order: wait_set:threads=n and
/// events:timers_thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bounds_ms.hpp"
#include "case_studies.hpp"
#include "rclrt/analysis/judge.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

model::ExecutorChoice threads(unsigned number) {
  model::ExecutorChoice result = ExecutorKind::kWaitSet;
  result.threads = number;
  return result;
}

model::ExecutorChoice timers_thread() {
  model::ExecutorChoice result = ExecutorKind::kEvents;
  result.timers_thread = true;
  return result;
}

constexpr double kNanosecond = 1e-6;

model::Application three_equal_timers(double period = 10) {
  return Builder()
      .timer("a", period, 2)
      .timer("b", period, 2)
      .timer("c", period, 2)
      .chain("a", {"a"}, 0)
      .chain("b", {"b"}, 0)
      .chain("c", {"c"}, 0)
      .done();
}

// The other two start first, one on each CPU.
TEST(SeveralThreads, ACallbackWaitsWhileAllOfThemRunOthers) {
  const auto application = on_cpus(three_equal_timers(), 2);
  const auto all_4 = Pointwise(DoubleNear(kNanosecond), {4.0, 4.0, 4.0});
  EXPECT_THAT(bounds_ms(application, threads(2)), all_4);
  const Judgement found = judge(application, threads(2), {});
  EXPECT_EQ(found.chains[2].verdict, Verdict::kProved);
  const auto simulated =
      simulate(simulated_system(application, threads(2)), {.horizon_ns = 100'000'000});
  EXPECT_EQ(simulated.chains[2].response.worst_ns, ms(4).count());
}

TEST(SeveralThreads, OnMoreCpusThanThreadsCountByTheThreads) {
  const auto two = Pointwise(DoubleNear(kNanosecond), {4.0, 4.0, 4.0});
  EXPECT_THAT(bounds_ms(on_cpus(three_equal_timers(), 4), threads(2)), two);
  EXPECT_THAT(bounds_ms(on_cpus(three_equal_timers(), 4), threads(4)), ElementsAre(2, 2, 2));
}

TEST(SeveralThreads, OnOneCpuRunOneCallbackAtATime) {
  EXPECT_THAT(bounds_ms(on_cpus(three_equal_timers(), 1), threads(2)), ElementsAre(6, 6, 6));
}

TEST(SeveralThreads, WithoutStatedCpusHaveTheBoundOfOne) {
  auto application = three_equal_timers();
  application.executors[0].cpus.clear();
  const auto found = judge(application, threads(2), {}).chains;
  EXPECT_EQ(found[0].verdict, Verdict::kProved);
  EXPECT_EQ(found[0].bound, ms(6).count());
}

// b and c are never on both CPUs while a waits for b.
TEST(SeveralThreads, AMemberOfTheGroupCountsWhole) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 10, 2)
                                       .group("g")
                                       .timer("b", 10, 3)
                                       .group("g")
                                       .timer("c", 10, 2)
                                       .chain("a", {"a"}, 0)
                                       .done(),
                                   2);
  EXPECT_THAT(bounds_ms(application, threads(2)), ElementsAre(5));
}

/// Examples 4 and 6 of Teper et al., "Reconciling ROS 2 with classical real-time scheduling of
/// periodic tasks", EMSOFT 2024. In example 4, t2 never runs; in example 6, t4.
TEST(SeveralThreads, HaveNoBoundForACallbackThatMayStarve) {
  const auto example_4 = on_cpus(Builder()
                                     .timer("t1", 1000, 1000)
                                     .group("g1")
                                     .timer("t2", 1000, 500)
                                     .group("g1")
                                     .timer("t3", 1000, 500)
                                     .group("g2")
                                     .chain("starves", {"t2"}, 0)
                                     .done(),
                                 2);
  const auto example_6 = on_cpus(Builder()
                                     .timer("t1", 500, 333)
                                     .group("g1")
                                     .timer("t2", 500, 333)
                                     .group("g2")
                                     .timer("t3", 500, 334)
                                     .group("g3")
                                     .timer("t4", 5000, 1)
                                     .group("g3")
                                     .chain("starves", {"t4"}, 0)
                                     .done(),
                                 2);
  for (const auto& application : {example_4, example_6}) {
    const ChainBound found = judge(application, threads(2), {}).chains[0];
    EXPECT_FALSE(found.bound);
    EXPECT_THAT(found.note,
                HasSubstr("callbacks of a group may keep another member of it from running"));
  }
}

// A group with a thread and a CPU is like an executor on a CPU of its own.
TEST(SeveralThreads, WithOneForEachGroupACallbackWaitsForItsGroupOnly) {
  const auto with_groups = [](const std::string& third) {
    return on_cpus(Builder()
                       .timer("t1", 100, 40)
                       .group("g1")
                       .timer("t2", 100, 50)
                       .group("g1")
                       .timer("t3", 100, 80)
                       .group("g2")
                       .timer("t4", 200, 10)
                       .group(third)
                       .chain("t2", {"t2"}, 0)
                       .chain("t3", {"t3"}, 0)
                       .done(),
                   2);
  };
  EXPECT_THAT(bounds_ms(with_groups("g2"), threads(2)), ElementsAre(90, 90));
  EXPECT_THAT(bounds_ms(with_groups("g3"), threads(2))[0], -1);
  EXPECT_THAT(bounds_ms(with_groups("g2"), threads(4)), ElementsAre(90, 90));
  const Overheads machine{.dispatch = 100'000, .polling = 20'000, .handover = 50'000};
  // Two runs, each with dispatch and two polls, and a hand-over and a poll for 10 draws.
  EXPECT_THAT(bounds_ms(with_groups("g2"), threads(2), machine)[0],
              DoubleNear(90 + 2 * (0.1 + 2 * 0.02 + 10 * (0.05 + 0.02)), kNanosecond));
  const Overheads without{.dispatch = 100'000};
  EXPECT_EQ(chain_bounds(with_groups("g2"), threads(2), without)[0].verdict, Verdict::kConditional);
}

/// An application of which executor e1 has two CPUs, more work than time, and a rare timer. A more
/// urgent executor e2 on these CPUs may keep the timer, or a member of its group, from going on.
model::Application below_another_executor(const std::vector<int>& cpus_above,
                                          const std::string& group) {
  Builder builder;
  builder.timer("j", 60, group.empty() ? 2 : 0.5);
  if (!group.empty()) {
    builder.group(group).timer("m", 60, 2).group(group);
  }
  builder.timer("k1", 2, 1.5).timer("k2", 2, 1.5).timer("h", 60, 30).chain("j", {"j"}, 1, 1000);
  model::Application application = builder.done();
  application.executors = {{.name = "e1", .cpus = {0, 1}, .top_priority = 50},
                           {.name = "e2", .cpus = cpus_above, .top_priority = 80}};
  application.callbacks.back().executor = 1;
  const auto start = [&](const std::string& id, double offset) {
    const auto at = std::ranges::find(application.callbacks, id, &model::Callback::id);
    std::get<model::Timer>(at->trigger).offset = ms(offset);
  };
  start("j", group.empty() ? 10 : 12);
  if (!group.empty()) {
    start("m", 10);
  }
  start("k2", 0.5);
  start("h", 10.5);
  return application;
}

// While h runs, the other thread goes on from set to set.
TEST(SeveralThreads, BelowAnotherExecutorOnTheirCpusAreNotLimitedByReadySets) {
  for (const auto& application :
       {below_another_executor({0, 1}, ""), below_another_executor({0}, ""),
        below_another_executor({0}, "g")}) {
    const auto bound = chain_bounds(application, threads(2))[0].bound;
    const auto simulated =
        simulate(simulated_system(application, threads(2)), {.horizon_ns = 10'000'000'000});
    EXPECT_GE(simulated.chains[0].response.worst_ns, ms(30).count());
    EXPECT_LE(simulated.chains[0].response.worst_ns, bound.value_or(kMaxTicks));
  }
}

// With sets of several threads, s may take a later message of b before the one of a. It is released
// at most the window after it.
TEST(SeveralThreads, MayTakeTheMessagesOfASynchroniserInAnyOrder) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 100, 1)
                                       .timer("b", 100, 1)
                                       .sync("s", "a", "b", 1, 50)
                                       .chain("joined", {"a", "s"}, 0)
                                       .chain("alone", {"a"}, 0)
                                       .done(),
                                   2);
  for (const auto& executor : {threads(2), threads(4)}) {
    const auto bounds = chain_bounds(application, executor);
    ASSERT_TRUE(bounds[0].bound);
    EXPECT_GE(*bounds[0].bound, ms(50 + 1 + 1).count());
    EXPECT_LE(*bounds[0].bound, ms(50 + 3 + 3).count());
    EXPECT_EQ(bounds[0].reaction, std::nullopt);
    EXPECT_TRUE(bounds[1].bound);
  }
  EXPECT_TRUE(chain_bounds(application, ExecutorKind::kWaitSet)[0].bound);
}

// The response of s has no end: its publishers have more work than time.
TEST(SeveralThreads, ASynchroniserWithoutABoundLeavesOthersTheirs) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 1, 0.89)
                                       .timer("b", 1, 0.55)
                                       .sync("s", "a", "b", 1, 1)
                                       .timer("j", 100, 1.18)
                                       .chain("j", {"j"}, 0)
                                       .done(),
                                   2);
  EXPECT_GT(bounds_ms(application, threads(2))[0], 1.18);
}

// Polling takes 0.1 ms, and the other threads wait meanwhile.
TEST(SeveralThreads, PollOneAtATime) {
  const auto application = on_cpus(three_equal_timers(100), 2);
  const auto without = bounds_ms(application, threads(2), {.handover = 1});
  const auto with = bounds_ms(application, threads(2), {.polling = 100'000, .handover = 1});
  // The callback waits for three polls of its own. Each of the three runs costs two whole, and
  // those of the others two more, by their share of the CPUs.
  EXPECT_NEAR(with[0] - without[0], 0.3 + 3 * 0.2 + 2 * 0.2 / 2, 10 * kNanosecond);
}

// Published for the multi-threaded executor (Sobhani et al., RTAS 2023): 103.9, 103.6 and 103.9.
TEST(SeveralThreads, HaveLowerBoundsThanThePublishedOnesForTheCaseStudyOfJiang) {
  EXPECT_THAT(bounds_ms(on_cpus(case_study_of_jiang(), 2), threads(2)),
              Pointwise(DoubleNear(1e-3), {58.2, 72.3, 58.2}));
}

// Published by Sobhani et al. for four threads: 61.28, 70.2, 80.61 and 171.49.
TEST(SeveralThreads, HaveBoundsThatAreAttainedIfThereIsOneForEachChain) {
  EXPECT_THAT(bounds_ms(on_cpus(case_study_of_sobhani(), 4), threads(4)),
              Pointwise(DoubleNear(1e-3), {6.242, 17.914, 35.279, 126.159}));
}

// The others have more work than time. Each runs once when c becomes ready, and once in each of two
// ready sets, on one of two CPUs.
TEST(SeveralThreads, ServeACallbackWithoutAGroupAtAnyLoad) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 10, 10)
                                       .timer("b", 10, 10)
                                       .timer("d", 10, 10)
                                       .timer("c", 1000, 1)
                                       .chain("c", {"c"}, 0)
                                       .chain("a", {"a"}, 0)
                                       .done(),
                                   2);
  EXPECT_THAT(bounds_ms(application, threads(2)),
              Pointwise(DoubleNear(kNanosecond), {1 + 3 * 3 * 10 / 2.0, -1.0}));
  const auto simulated =
      simulate(simulated_system(application, threads(2)), {.horizon_ns = 10'000'000'000});
  EXPECT_LE(simulated.chains[0].response.worst_ns, ms(46).count());
  EXPECT_GE(simulated.chains[0].response.worst_ns, ms(10).count());
}

TEST(SeveralThreads, ATimersThreadRunsBesideTheOther) {
  auto application = on_cpus(Builder()
                                 .timer("t1", 10, 2)
                                 .timer("t2", 10, 3)
                                 .subscription("s", "t1", 1)
                                 .timer("e", 10, 2)
                                 .chain("e", {"e"}, 0)
                                 .chain("t2", {"t2"}, 0)
                                 .done(),
                             2);
  application.callbacks.back().trigger =
      model::Event{.min_interval = ms(10), .max_interval = ms(10), .depth = 10};
  EXPECT_THAT(bounds_ms(application, timers_thread()), ElementsAre(2 + 1, 3 + 2));
  EXPECT_THAT(bounds_ms(on_cpus(application, 1), timers_thread()), ElementsAre(8, 8));
}

}  // namespace
}  // namespace rclrt::analysis
