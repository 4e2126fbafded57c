// SPDX-License-Identifier: Apache-2.0
/// Bounds of executors on several CPUs: published cases, and what a chain waits for while a CPU is
/// idle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "case_studies.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

std::vector<double> simulated_in_ms(const model::Application& application) {
  std::vector<double> result;
  const auto simulated = simulate(simulated_system(application, ExecutorKind::kPreemptive),
                                  {.horizon_ns = 4'000'000'000});
  for (const ChainSimulation& each : simulated.chains) {
    result.push_back(static_cast<double>(each.response.worst_ns) / 1e6);
  }
  return result;
}

// Queueing the three less urgent callbacks, and the timer's instances meanwhile, may take the time
// of a's thread: 1 for a, and 0.2 for each of a, b1 to b3 and two instances of t.
TEST(SeveralCpus, QueueingLessUrgentInstancesCosts) {
  Builder builder;
  builder.timer("a", 100, 1).priority(5);
  for (const char* const name : {"b1", "b2", "b3"}) {
    builder.subscription(name, "a", 1).priority(1);
  }
  builder.timer("t", 3, 0.1).priority(1).chain("c", {"a"}, 5);
  const Overheads overheads{.dispatch = ms(0.2).count()};
  const auto two = on_cpus(builder.done(), 2);
  EXPECT_EQ(bounds_ms(two, ExecutorKind::kPreemptive, overheads)[0], 1 + 5 * 0.2);
}

/// The tests of SchedCAT, (C, T = D), the most urgent first: (1, 4) (1, 5) (3, 9) (9, 18). Times
/// are in units of `unit`.
model::Application independent_tasks(double unit) {
  return Builder()
      .timer("a", 4 * unit, unit)
      .timer("b", 5 * unit, unit)
      .timer("c", 9 * unit, 3 * unit)
      .timer("d", 18 * unit, 9 * unit)
      .chain("a", {"a"}, 4)
      .chain("b", {"b"}, 3)
      .chain("c", {"c"}, 2)
      .chain("d", {"d"}, 1)
      .done();
}

TEST(SeveralCpus, IndependentTasksHaveTheBoundsOfTheLiterature) {
  constexpr double kNanosecond = 1e-6;  // the literature's times are integers
  EXPECT_THAT(bounds_ms(on_cpus(independent_tasks(kNanosecond), 2)),
              testing::Pointwise(testing::DoubleNear(1e-9), {1e-6, 1e-6, 4e-6, 15e-6}));
  EXPECT_THAT(bounds_ms(on_cpus(independent_tasks(1), 2)),
              testing::Pointwise(testing::DoubleNear(1e-5), {1, 1, 4, 16}));
  EXPECT_THAT(simulated_in_ms(on_cpus(independent_tasks(1), 2)), testing::ElementsAre(1, 1, 4, 14));
}

TEST(SeveralCpus, ChainsOfOneExecutorHaveBoundsThatAreAttained) {
  const auto application = on_cpus(case_study_of_jiang(), 2);
  const auto expected = testing::Pointwise(testing::DoubleNear(0.01), {31.0, 45.1, 58.2});
  EXPECT_THAT(bounds_ms(application), expected);
  EXPECT_THAT(simulated_in_ms(application), expected);
  for (const ChainBound& each : chain_bounds(application)) {
    EXPECT_EQ(each.verdict, Verdict::kProved);
  }
}

TEST(SeveralCpus, AreNeededByTheOtherCaseStudyFourOfThem) {
  const auto application = on_cpus(case_study_of_sobhani(), 4);
  const auto expected =
      testing::Pointwise(testing::DoubleNear(0.01), {6.242, 17.914, 35.279, 126.159});
  EXPECT_THAT(bounds_ms(application), expected);
  EXPECT_THAT(simulated_in_ms(application), expected);
}

TEST(SeveralCpus, ProveNothingAboutAChainWithABoundAboveItsDeadline) {
  const auto bounds = chain_bounds(on_cpus(case_study_of_sobhani(), 2));
  EXPECT_NEAR(static_cast<double>(*bounds[0].bound) / 1e6, 6.242, 0.01);
  EXPECT_NEAR(static_cast<double>(*bounds[1].bound) / 1e6, 17.914, 0.01);
  EXPECT_NEAR(static_cast<double>(*bounds[2].bound) / 1e6, 41.521, 0.01);
  EXPECT_EQ(bounds[3].verdict, Verdict::kUnknown);
  EXPECT_FALSE(bounds[3].note.empty());
}

/// Less urgent callbacks may hold both groups of a chain one after the other, because each finds a
/// CPU while the chain waits: x from 0, y from 5.05.
TEST(SeveralCpus, LessUrgentMembersOfAGroupDelayEachCallbackOfAChainOnce) {
  Builder builder;
  builder.timer("a", 20, 0.1).group("g").priority(1);
  builder.subscription("b", "a", 0.1).group("h").priority(1);
  builder.timer("x", 20, 5).group("g").priority(0);
  builder.timer("y", 20, 5).group("h").priority(0);
  auto application = on_cpus(builder.chain("urgent", {"a", "b"}, 1, 6).done(), 2);
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, ms(0.1 + 5 + 0.1 + 5).count());
  EXPECT_EQ(bounds[0].verdict, Verdict::kUnknown);
  std::get<model::Timer>(application.callbacks[0].trigger).offset = ms(0.001);
  std::get<model::Timer>(application.callbacks[3].trigger).offset = ms(5.05);
  EXPECT_THAT(simulated_in_ms(application),
              testing::ElementsAre(testing::DoubleNear(10.149, 1e-6)));
}

TEST(SeveralCpus, AProducerConsumerHasOneWorkerForEachLevel) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 20, 2)
                                       .timer("b", 20, 3)
                                       .chain("a", {"a"}, 1)
                                       .chain("b", {"b"}, 1)
                                       .done(),
                                   2);
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kPreemptive)[0].bound, ms(2).count());
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kProducerConsumer)[0].bound, ms(5).count());
}

TEST(SeveralCpus, AHandoverCountsForEachCallback) {
  const auto application = on_cpus(
      Builder().timer("a", 20, 2).subscription("b", "a", 3).chain("c", {"a", "b"}, 1).done(), 2);
  const auto bounds =
      chain_bounds(application, ExecutorKind::kPreemptive, {.dispatch = 1000, .handover = 20'000});
  EXPECT_EQ(bounds[0].bound, ms(5).count() + 2 * 1000 + 6 * 20'000)
      << "each is woken, and resumed after a preemption";
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
  const auto unknown = chain_bounds(application, ExecutorKind::kPreemptive, {.dispatch = 1000});
  EXPECT_EQ(unknown[0].verdict, Verdict::kConditional);
  EXPECT_THAT(unknown[0].assumptions,
              testing::ElementsAre("a thread that is to run on another CPU starts there at once "
                                   "(handover_us of the overheads' file)"));
}

TEST(SeveralCpus, TheWorkOfASchedulerThreadOnACpuOfItsOwnDelaysTheHandOver) {
  auto application = Builder().timer("a", 10, 1).timer("b", 10, 1).chain("one", {"a"}, 1).done();
  application.executors[0].scheduler_cpus = {1};
  const auto bounds =
      chain_bounds(application, ExecutorKind::kThreadDispatch, {.scheduler = 100'000});
  EXPECT_EQ(bounds[0].bound, ms(1).count() + 4 * 100'000) << "a and b, twice each";
}

// The timers of `high` wait for its scheduler thread, which shares its CPU with that of `busy`. So
// all of them may come late, together, although none of them runs before.
TEST(SeveralCpus, ASchedulerThreadElsewhereMayHoldManyFlowsBack) {
  Builder builder;
  builder.timer("low", 1000, 75);
  for (int i = 0; i < 8; ++i) {
    builder.timer("f" + std::to_string(i), 100, 5);
  }
  for (int i = 0; i < 20; ++i) {
    builder.timer("d" + std::to_string(i), 1000, 0.001);
  }
  builder.chain("low", {"low"}, 1, 200);
  for (int i = 0; i < 8; ++i) {
    builder.chain("f" + std::to_string(i), {"f" + std::to_string(i)}, 10 + i);
  }
  auto application = builder.done();
  application.executors = {
      {.name = "low", .cpus = {0, 1}, .scheduler_cpus = {3}, .top_priority = 20},
      {.name = "high", .cpus = {0, 1}, .scheduler_cpus = {2}, .top_priority = 60},
      {.name = "busy", .cpus = {4}, .scheduler_cpus = {2}, .top_priority = 95}};
  application.nodes.clear();
  for (std::size_t i = 0; i < 3; ++i) {
    application.nodes.push_back(
        {.name = "n" + std::to_string(i), .name_space = "/", .executor = i});
  }
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    application.callbacks[i].node = i == 0 ? 0 : i <= 8 ? 1 : 2;
  }
  set_offset(application, 0, 10.7);
  const Overheads overheads{.scheduler = 500'000};
  const auto bound = chain_bounds(application, ExecutorKind::kThreadDispatch, overheads)[0];
  const auto simulated = simulate(simulated_system(application, ExecutorKind::kThreadDispatch,
                                                   {.scheduler_ns = overheads.scheduler}),
                                  {.horizon_ns = 3'000'000'000});
  ASSERT_TRUE(bound.bound);
  EXPECT_GE(simulated.chains[0].response.worst_ns, ms(100).count());
  EXPECT_GE(*bound.bound, simulated.chains[0].response.worst_ns);
}

// The next instance of the path is released before it ends. Its callbacks run on any CPU, and it is
// behind the path in each of them. With a thread for each instance, it may be before the path.
TEST(SeveralCpus, LaterInstancesOfAPathDelayItOnlyByTheirShareOfTheCpus) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 60, 8)
                                       .timer("b", 60, 8)
                                       .timer("t", 12, 3)
                                       .subscription("u", "t", 5)
                                       .chain("a", {"a"}, 3)
                                       .chain("b", {"b"}, 2)
                                       .chain("path", {"t", "u"}, 1)
                                       .done(),
                                   2);
  const double in_order = bounds_ms(application)[2];
  EXPECT_GE(in_order, simulated_in_ms(application)[2]);
  EXPECT_EQ(simulated_in_ms(application)[2], 16) << "a and b are before t";
  EXPECT_EQ(in_order, 17.5) << "a, b, and the next instance of t, but not of u";
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kThreadDispatch)[2], 24);
}

TEST(SeveralCpus, AThreadForEachInstanceMayTakeTheMessagesOfASyncInAnyOrder) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 20, 2)
                                       .timer("b", 20, 3)
                                       .sync("s", "a", "b", 1, 5)
                                       .chain("c", {"a", "s"}, 1)
                                       .done(),
                                   2);
  EXPECT_TRUE(chain_bounds(application, ExecutorKind::kPreemptive)[0].bound);
  const auto bounds = chain_bounds(application, ExecutorKind::kThreadDispatch);
  EXPECT_EQ(bounds[0].bound, ms(5 + 4 + 1).count()) << "b is released a window later, and takes 4";
  EXPECT_EQ(bounds[0].reaction, std::nullopt);
}

/// `low` runs on both CPUs, each of which a more urgent executor uses, too.
model::Application two_above_one(const std::vector<int>& other_cpus) {
  auto application = Builder()
                         .timer("low", 20, 4)
                         .timer("high", 20, 5)
                         .timer("other", 20, 6)
                         .subscription("after", "low", 2)
                         .chain("low", {"low"}, 0)
                         .chain("high", {"high"}, 0)
                         .chain("across", {"low", "after"}, 0)
                         .done();
  application.executors = {{.name = "low", .cpus = {0, 1}, .top_priority = 50},
                           {.name = "high", .cpus = {1}},
                           {.name = "other", .cpus = other_cpus}};
  application.nodes.clear();
  for (std::size_t i = 0; i < 3; ++i) {
    application.nodes.push_back(
        {.name = "n" + std::to_string(i), .name_space = "/", .executor = i});
    application.callbacks[i].node = i;
  }
  application.callbacks[3].node = 2;
  application.callbacks[3].executor = 2;
  return application;
}

TEST(SeveralCpus, MoreUrgentExecutorsOnTheSameCpusCountByTheirShare) {
  // One CPU is free after 5: high is done, and the others do not use that CPU.
  const auto both = two_above_one({0});
  EXPECT_THAT(simulated_in_ms(both), testing::ElementsAre(9, 5, 11));
  EXPECT_EQ(bounds_ms(both)[0], 9);
  EXPECT_EQ(bounds_ms(both)[1], 5);
  EXPECT_GE(bounds_ms(both)[2], 11);
  for (const ChainBound& each : chain_bounds(both)) {
    EXPECT_THAT(each.assumptions, testing::IsEmpty());
  }
  // `other` runs elsewhere, so `low` finds a CPU.
  EXPECT_EQ(bounds_ms(two_above_one({2}))[0], 4);
}

TEST(SeveralCpus, ThatAreSharedInPartNeedAKernelThatMovesAnyThread) {
  auto application = two_above_one({0});
  const auto conditions = [&] { return chain_bounds(application)[0].assumptions; };
  application.executors[1].cpus = {1, 0};  // the same set
  EXPECT_THAT(conditions(), testing::IsEmpty());
  application.executors[1].cpus = {1, 2};
  EXPECT_THAT(conditions(), testing::ElementsAre(testing::HasSubstr("NO_RT_PUSH_IPI")));
}

TEST(SeveralCpus, AnExecutorThatStatesNoCpusMayUseThoseOfOthersAndMore) {
  const auto found = chain_bounds(two_above_one({}));
  EXPECT_EQ(found[0].bound, chain_bounds(two_above_one({0, 1}))[0].bound);
  EXPECT_THAT(found[0].assumptions, testing::ElementsAre(testing::HasSubstr("NO_RT_PUSH_IPI")))
      << "on a third CPU its set is not that of 'low'";
  const auto known = chain_bounds(two_above_one({}), ExecutorKind::kPreemptive, {.cpus = 2});
  EXPECT_EQ(known[0].bound, found[0].bound);
  EXPECT_THAT(known[0].assumptions, testing::IsEmpty());
}

TEST(SeveralCpus, SchedulerCpusHaveNoEffectWithoutASchedulerThread) {
  auto application = two_above_one({0});
  for (const ExecutorKind kind :
       {ExecutorKind::kPreemptive, ExecutorKind::kPerGroup, ExecutorKind::kWorkshop}) {
    const Overheads machine{.dispatch = 100'000, .handover = 1};
    application.executors[1].scheduler_cpus = {};
    const auto without = chain_bounds(application, kind, machine);
    application.executors[1].scheduler_cpus = {7};
    EXPECT_EQ(chain_bounds(application, kind, machine)[0].bound, without[0].bound);
  }
}

TEST(SeveralCpus, AMessageBetweenExecutorsCountsOnItsWay) {
  const auto application = two_above_one({2});
  const Overheads machine{.far = {.min = 0, .max = 100'000}};
  const auto without = chain_bounds(application, ExecutorKind::kPreemptive);
  const auto with = chain_bounds(application, ExecutorKind::kPreemptive, machine);
  EXPECT_EQ(without[2].bound, ms(4 + 6 + 2).count());
  EXPECT_EQ(*with[2].bound - *without[2].bound, 100'000);
  EXPECT_TRUE(std::ranges::any_of(with[2].why, [](const Contribution& term) {
    return term.kind == Contribution::Kind::kHop && term.total == 100'000;
  }));
}

// In the time of a, b1 and b2 have more work than 2^61 ns, more than sums can have.
TEST(SeveralCpus, MoreWorkThanCanBeCountedHasNoBound) {
  constexpr double kHour = 3'600'000;
  const auto application = Builder()
                               .timer("a", kHour, kHour)
                               .timer("b", 1, 0)
                               .subscription("b1", "b", kHour)
                               .subscription("b2", "b", kHour)
                               .chain("a", {"a"}, 1)
                               .chain("b1", {"b", "b1"}, 1)
                               .chain("b2", {"b", "b2"}, 1)
                               .done();
  EXPECT_FALSE(chain_bounds(on_cpus(application, 2))[0].bound);
}

TEST(SeveralCpus, TheTermsOfABoundSumUpToIt) {
  for (const int cpus : {2, 4}) {
    for (const ChainBound& each : chain_bounds(on_cpus(case_study_of_sobhani(), cpus))) {
      Ticks total = each.waited;
      for (const Contribution& term : each.why) {
        total += term.total;
      }
      EXPECT_EQ(total, each.bound.value_or(0));
    }
  }
}

}  // namespace
}  // namespace rclrt::analysis
