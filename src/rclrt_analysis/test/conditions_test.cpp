// SPDX-License-Identifier: Apache-2.0
/// An application's own statements are no conditions of its bounds. The cost of queueing counts
/// under every kind. A chain without a bound has a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "application_builder.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns the kinds that run, and finish a started callback first or not.
std::vector<ExecutorKind> kinds_that_run(bool one_at_a_time) {
  std::vector<ExecutorKind> kinds;
  for (const model::ExecutorTraits& each : model::executor_kinds()) {
    if (!each.simulated_only && each.one_at_a_time == one_at_a_time) {
      kinds.push_back(each.kind);
    }
  }
  return kinds;
}

/// Two less urgent callbacks hold both groups at once, each on a CPU of its own.
model::Application two_groups() {
  return Builder()
      .timer("grip", 30, 0.5)
      .group("arm")
      .priority(4)
      .subscription("close", "grip", 0.5)
      .group("hand")
      .priority(4)
      .timer("home", 30, 8)
      .group("arm")
      .priority(1)
      .timer("calibrate", 30, 8)
      .group("hand")
      .priority(1)
      .chain("grip", {"grip", "close"}, 4, 12)
      .done();
}

std::int64_t worst_simulated(const model::Application& application, ExecutorKind kind,
                             const SimulatedTimes& times = {}) {
  return simulate(simulated_system(application, kind, times), {.horizon_ns = 1'000'000'000})
      .chains[0]
      .response.worst_ns;
}

TEST(Conditions, OneCpuIsNoConditionOfAnExecutorThatStatesTwo) {
  model::Application application = two_groups();
  const auto one = chain_bounds(application);
  ASSERT_EQ(one[0].verdict, Verdict::kProved);
  application.executors[0].cpus = {0, 1};
  for (const std::size_t timer : {0U, 2U, 3U}) {  // the second group is taken when the first ends
    auto& stated = std::get<model::Timer>(application.callbacks[timer].trigger);
    stated.offset_stated = true;
    stated.offset = ms(timer == 0 ? 0.001 : timer == 2 ? 0 : 8.4);
  }
  EXPECT_GT(worst_simulated(application, ExecutorKind::kPreemptive), *one[0].bound)
      << "the bound of one CPU is none of two";
  for (const ExecutorKind kind : kinds_that_run(false)) {
    if (traits(kind).by_deadline) {
      continue;
    }
    const auto bounds = chain_bounds(application, kind);
    ASSERT_TRUE(bounds[0].bound) << traits(kind).name;
    EXPECT_GE(*bounds[0].bound, worst_simulated(application, kind)) << traits(kind).name;
    EXPECT_THAT(bounds[0].assumptions, testing::IsEmpty()) << traits(kind).name;
    for (const QueueBound& queue : queue_bounds(application, kind)) {
      EXPECT_TRUE(queue.holds()) << traits(kind).name;
    }
  }
}

TEST(Conditions, EdfHasNoBoundsOnSeveralCpus) {
  model::Application application = two_groups();
  application.executors[0].cpus = {0, 1};
  const auto bounds = chain_bounds(application, ExecutorKind::kEdf);
  EXPECT_EQ(bounds[0].bound, std::nullopt);
  EXPECT_EQ(bounds[0].verdict, Verdict::kUnknown);
  EXPECT_THAT(bounds[0].note, HasSubstr("executor 'main' runs callbacks on several CPUs at once "
                                        "(cpus: [0, 1])"));
  for (const QueueBound& queue : queue_bounds(application, ExecutorKind::kEdf)) {
    EXPECT_EQ(queue.pending, std::nullopt);
  }
}

TEST(Conditions, LessUrgentPublishersOnASecondCpuFillTheOnlyWorkerOfALevel) {
  Builder builder;
  builder.timer("stop", 50, 1).priority(9);
  for (const std::string name : {"a", "b", "c", "d"}) {
    builder.timer(name, 50, 0.5).priority(1).subscription("of " + name, name, 4).priority(9);
  }
  model::Application application = builder.chain("stop", {"stop"}, 9, 20).done();
  application.executors[0].cpus = {0, 1};
  application.executors[0].scheduler_cpus = {2};
  const auto bounds = chain_bounds(application, ExecutorKind::kProducerConsumer);
  EXPECT_EQ(bounds[0].bound, ms(1 + 4 * 4).count()) << "all four may be before it";
  EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
}

TEST(Conditions, OneCpuStaysAConditionWhereTheFileStatesNone) {
  model::Application application = two_groups();
  application.executors[0].cpus.clear();
  for (const ExecutorKind kind : kinds_that_run(false)) {
    const auto bounds = chain_bounds(application, kind);
    ASSERT_TRUE(bounds[0].bound) << traits(kind).name;
    if (traits(kind).by_deadline) {  // it takes one CPU itself
      EXPECT_THAT(bounds[0].assumptions, testing::IsEmpty());
    } else {
      EXPECT_THAT(bounds[0].assumptions, testing::Contains(HasSubstr("runs on one CPU")));
    }
  }
}

TEST(Conditions, AnExecutorOfOneThreadMayMoveBetweenItsCpus) {
  model::Application application = two_groups();
  for (const ExecutorKind kind : kinds_that_run(true)) {
    application.executors[0].cpus = {0};
    const auto one = chain_bounds(application, kind);
    application.executors[0].cpus = {0, 1};
    const auto two = chain_bounds(application, kind);
    EXPECT_EQ(two[0].bound, one[0].bound) << traits(kind).name;
    EXPECT_TRUE(two[0].assumptions.empty()) << traits(kind).name;
    application.executors[0].cpus.clear();
    const auto any = chain_bounds(application, kind);
    EXPECT_EQ(any[0].bound, one[0].bound) << traits(kind).name;
    EXPECT_TRUE(any[0].assumptions.empty()) << traits(kind).name;
    application.executors[0].cpus = {0, 1};
    if (two[0].bound) {
      EXPECT_LE(worst_simulated(application, kind), *two[0].bound) << traits(kind).name;
    }
  }
}

TEST(Conditions, ACpuThatAnotherExecutorStatesAmongOthersIsShared) {
  model::Application application = two_groups();
  application.executors.push_back({.name = "rest", .cpus = {0, 3}});
  application.nodes.push_back({.name = "rest", .name_space = "/", .executor = 1});
  application.callbacks[2].node = 1;
  application.callbacks[2].group.reset();
  std::vector<ExecutorKind> kinds = kinds_that_run(false);
  std::ranges::copy(kinds_that_run(true), std::back_inserter(kinds));
  for (const ExecutorKind kind : kinds) {
    if (traits(kind).by_deadline) {
      continue;
    }
    const auto bound = chain_bounds(application, kind)[0];
    ASSERT_TRUE(bound.bound) << traits(kind).name;
    EXPECT_GE(*bound.bound, worst_simulated(application, kind)) << traits(kind).name;
    EXPECT_THAT(bound.assumptions, testing::IsEmpty()) << traits(kind).name;
  }
  application.executors[1].cpus = {3, 4};  // apart, but two
  EXPECT_EQ(chain_bounds(application, ExecutorKind::kPicas)[0].verdict, Verdict::kProved);
}

TEST(Conditions, ASchedulerThreadOnTheCpuOfAnotherExecutorCounts) {
  model::Application application = two_groups();
  application.executors.push_back({.name = "rest", .cpus = {1}, .scheduler_cpus = {0}});
  application.nodes.push_back({.name = "rest", .name_space = "/", .executor = 1});
  application.callbacks[2].node = 1;
  application.callbacks[2].group.reset();
  EXPECT_EQ(chain_bounds(application)[0].verdict, Verdict::kProved);
  const auto bound_with = [&](Ticks scheduler) {
    const auto bounds =
        chain_bounds(application, ExecutorKind::kProducerConsumer, {.scheduler = scheduler});
    EXPECT_EQ(bounds[0].verdict, Verdict::kProved);
    EXPECT_GE(bounds[0].bound, worst_simulated(application, ExecutorKind::kProducerConsumer,
                                               {.scheduler_ns = scheduler}));
    return bounds[0].bound.value_or(0);
  };
  EXPECT_EQ(bound_with(100'000) - bound_with(0), 8 * 100'000) << "each of the four twice";
  application.executors[1].top_priority = 50;  // callbacks of 'main' delay the scheduler of 'rest'
  EXPECT_THAT(chain_bounds(application, ExecutorKind::kProducerConsumer)[0].assumptions,
              testing::ElementsAre(
                  "the scheduler thread of 'rest' takes no time on its own CPUs (scheduler_cpus)"));
}

/// Each instance that is queued while the first one runs costs 0.05 ms: itself, and `others`.
void expect_queueing(const model::Application& application, ExecutorKind kind, double work,
                     int instances) {
  const Overheads machine{.dispatch = 50'000};
  const auto without = chain_bounds(application, kind);
  const auto with = chain_bounds(application, kind, machine);
  ASSERT_TRUE(without[0].bound && with[0].bound) << traits(kind).name;
  EXPECT_GE(*without[0].bound, ms(work).count()) << traits(kind).name;
  EXPECT_GE(*with[0].bound - *without[0].bound, instances * machine.dispatch) << traits(kind).name;
}

TEST(Queueing, OfInstancesThatAreDueLaterIsAtTheCostOfWhateverRuns) {
  // Four that are due later are released while `urgent` runs.
  Builder builder;
  builder.timer("urgent", 20, 2).priority(5);
  for (const std::string name : {"p", "q", "r", "s"}) {
    builder.subscription(name, "urgent", 1).priority(2);
  }
  model::Application application = builder.chain("urgent", {"urgent"}, 5).done();
  application.callbacks[0].deadline = ms(3);
  for (std::size_t i = 1; i < application.callbacks.size(); ++i) {
    application.callbacks[i].deadline = ms(30 + static_cast<double>(i));
  }
  for (const ExecutorKind kind : {ExecutorKind::kEdf, ExecutorKind::kPreemptive,
                                  ExecutorKind::kPerGroup, ExecutorKind::kWorkshop}) {
    expect_queueing(application, kind, 2, 5);
  }
  application.callbacks[4].deadline.reset();  // in the background: it is queued nevertheless
  expect_queueing(application, ExecutorKind::kEdf, 2, 5);
}

TEST(Queueing, OfTheChainsOwnLaterInstancesIsAtItsCost) {
  // `act` of 0 ends after `map`. Until then the `sense` and `act` of 10 and of 20 arrive.
  model::Application application = Builder()
                                       .timer("sense", 10, 0.5)
                                       .priority(5)
                                       .subscription("act", "sense", 1)
                                       .priority(1)
                                       .timer("map", 100, 22)
                                       .priority(3)
                                       .chain("act", {"sense", "act"}, 1, 100)
                                       .done();
  for (const ExecutorKind kind : {ExecutorKind::kPreemptive, ExecutorKind::kPicas}) {
    // sense and act of 0, map, sense and act of 10, and of 20.
    expect_queueing(application, kind, 24.5, 7);
  }
}

TEST(Reasons, OfALoadThatIsTooHighNameThePriority) {
  const model::Application application =
      Builder().timer("a", 10, 6).timer("b", 10, 6).chain("b", {"b"}, 0).done();
  EXPECT_EQ(chain_bounds(application)[0].note,
            "the load of priority 0 and above is more than the core");
}

TEST(Reasons, OfABusyMachineNameItsBackground) {
  const model::Application application = Builder().timer("a", 10, 6).chain("a", {"a"}, 0).done();
  const auto bounds = chain_bounds(application, ExecutorKind::kPreemptive, {.background = 825'400});
  EXPECT_THAT(bounds[0].note,
              HasSubstr("is more than the core, of which the machine's background takes 82.5 %"));
}

TEST(Reasons, OfASearchThatWasGivenUpSaySo) {
  const model::Application application =
      Builder().timer("a", 7, 2).timer("b", 11, 3).timer("c", 13, 3).chain("c", {"c"}, 1).done();
  const auto bounds =
      chain_bounds(application, ExecutorKind::kEdf, {.near = {.max = 1000}}, {.steps = 8});
  ASSERT_EQ(bounds[0].bound, std::nullopt);
  EXPECT_THAT(bounds[0].note, HasSubstr("stopped"));
  EXPECT_THAT(bounds[0].note, Not(HasSubstr("too high")));
}

TEST(Reasons, NothingThatRunsOnAnotherCpuHadStarted) {
  model::Application application = Builder()
                                       .timer("slow", 200, 2)
                                       .priority(0)
                                       .subscription("heavy", "slow", 70)
                                       .priority(8)
                                       .timer("servo", 20, 1)
                                       .priority(3)
                                       .chain("servo", {"servo"}, 3)
                                       .done();
  application.executors.push_back({.name = "other", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[2].node = 1;
  const auto bounds = chain_bounds(application);
  EXPECT_EQ(bounds[0].bound, ms(1).count());
  for (const Contribution& each : bounds[0].why) {
    EXPECT_EQ(each.callback, 2U);
  }
}

}  // namespace
}  // namespace rclrt::analysis
