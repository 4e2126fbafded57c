// SPDX-License-Identifier: Apache-2.0
/// Bounds of executors on several CPUs, where other work cannot use all CPUs at once, where several
/// instances of a chain are under way, and where some callbacks have no bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "application_builder.hpp"
#include "bounds_ms.hpp"
#include "case_studies.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis {
namespace {

double simulated_ms(const model::Application& application, std::size_t chain,
                    ExecutorKind executor = ExecutorKind::kPreemptive) {
  const auto simulated =
      simulate(simulated_system(application, executor), {.horizon_ns = 4'000'000'000});
  return static_cast<double>(simulated.chains[chain].response.worst_ns) / 1e6;
}

/// A timer with a chain of its own, in milliseconds.
struct TimerChain {
  std::string id;
  double period{};
  double wcet{};
};

/// Returns an application on two CPUs with these timers, the most urgent one first.
model::Application on_two_cpus(const std::vector<TimerChain>& timers) {
  Builder builder;
  int priority = static_cast<int>(timers.size());
  for (const TimerChain& each : timers) {
    builder.timer(each.id, each.period, each.wcet).chain(each.id, {each.id}, priority--);
  }
  return on_cpus(builder.done(), 2);
}

/// `low` takes 5; three more urgent timers take 4 each.
model::Application three_above_one(const std::vector<int>& priorities, bool grouped) {
  Builder builder;
  builder.timer("low", 100, 5).chain("low", {"low"}, 0);
  for (const int priority : priorities) {
    const std::string id = "high" + std::to_string(builder.done().callbacks.size());
    builder.timer(id, 100, 4);
    if (grouped) {
      builder.group("g");
    }
    builder.chain(id, {id}, priority);
  }
  return on_cpus(builder.done(), 2);
}

TEST(SeveralCpusLimits, MembersOfAGroupUseOneCpuAtATime) {
  EXPECT_EQ(bounds_ms(three_above_one({1, 2, 3}, false))[0], 5 + 3 * 4 / 2.0);
  const auto application = three_above_one({1, 2, 3}, true);
  EXPECT_EQ(bounds_ms(application)[0], 5);
  EXPECT_EQ(simulated_ms(application, 0), 5);
}

TEST(SeveralCpusLimits, TheOnlyWorkerOfALevelUsesOneCpu) {
  const auto application = three_above_one({1, 1, 1}, false);
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kPreemptive)[0], 5 + 3 * 4 / 2.0);
  EXPECT_EQ(bounds_ms(application, ExecutorKind::kProducerConsumer)[0], 5);
  EXPECT_EQ(simulated_ms(application, 0, ExecutorKind::kProducerConsumer), 5);
}

// `high` has one of the two CPUs, so it leaves the other one to `low`.
TEST(SeveralCpusLimits, AnotherExecutorUsesOnlyTheCpusThatItHas) {
  auto application = three_above_one({1, 2, 3}, false);
  application.executors = {{.name = "low", .cpus = {0, 1}, .top_priority = 50},
                           {.name = "high", .cpus = {1}}};
  application.nodes.clear();
  for (std::size_t i = 0; i < 2; ++i) {
    application.nodes.push_back(
        {.name = "n" + std::to_string(i), .name_space = "/", .executor = i});
  }
  for (std::size_t i = 1; i < application.callbacks.size(); ++i) {
    application.callbacks[i].node = 1;
  }
  EXPECT_EQ(bounds_ms(application)[0], 5);
  EXPECT_EQ(simulated_ms(application, 0), 5);
  application.executors[1].cpus = {0, 1};
  EXPECT_EQ(bounds_ms(application)[0], 5 + 3 * 4 / 2.0);
}

/// `endless` needs more than a CPU, and is the most urgent one.
Builder with_endless_work(int priority) {
  Builder builder;
  builder.timer("low", 100, 5).chain("low", {"low"}, 1);
  builder.timer("high", 100, 4).chain("high", {"high"}, 5);
  builder.timer("endless", 10, 8).subscription("after", "endless", 12);
  builder.chain("endless", {"endless", "after"}, priority);
  return builder;
}

TEST(SeveralCpusLimits, ACallbackWithoutABoundUsesOneCpu) {
  const auto application = on_cpus(with_endless_work(9).done(), 3);
  const std::vector<double> bounds = bounds_ms(application);
  EXPECT_EQ(bounds[2], -1);
  EXPECT_EQ(bounds[1], 4) << "one CPU is left";
  EXPECT_EQ(bounds[0], 9) << "behind `high`, on the same CPU";
  EXPECT_EQ(simulated_ms(application, 0), 9);
}

TEST(SeveralCpusLimits, QueuesLimitWhatIsQueuedForACallbackWithoutABound) {
  const auto application = on_cpus(with_endless_work(0).done(), 2);
  for (const ExecutorKind kind : {ExecutorKind::kPreemptive, ExecutorKind::kProducerConsumer}) {
    const Overheads machine{.dispatch = 1000, .scheduler = 1000, .handover = 1};
    const auto bounds = chain_bounds(application, kind, machine);
    EXPECT_FALSE(bounds[2].bound);
    ASSERT_TRUE(bounds[0].bound) << traits(kind).name;
    EXPECT_LT(*bounds[0].bound, ms(6).count());
  }
}

TEST(SeveralCpusLimits, AGroupWithACallbackWithoutABoundHasTheWorkOfItsQueue) {
  Builder builder;
  builder.timer("low", 100, 5).group("g").chain("low", {"low"}, 1);
  builder.timer("endless", 10, 12).subscription("after", "endless", 0.5).group("g");
  builder.chain("endless", {"endless", "after"}, 9);
  const auto application = on_cpus(builder.done(), 3);
  // Ten runs may wait for each of the two, and one has begun; two releases come within 17.
  EXPECT_EQ(bounds_ms(application)[0], 5 + (11 + 11 + 2) * 0.5);
  EXPECT_GE(bounds_ms(application)[0], simulated_ms(application, 0));
}

// `after` takes a topic of `endless` and of `between`, which has 100 messages in its queue while
// `hog` is in its group. The order of the two in the file says nothing.
TEST(SeveralCpusLimits, AQueueHasTheMessagesOfAllItsPublishers) {
  const auto make = [](bool after_first) {
    Builder builder;
    builder.timer("low", 2000, 5).group("g").priority(1);
    builder.timer("endless", 10, 12).publishes("topic").priority(9);
    builder.timer("hog", 2000, 1000).group("hogged").priority(0);
    const auto after = [&] { builder.subscription("after", "topic", 0.5).group("g").priority(9); };
    const auto between = [&] {
      builder.subscription("between", "endless", 0.45).publishes("topic").group("hogged");
      builder.priority(9);
    };
    after_first ? after() : between();
    after_first ? between() : after();
    builder.chain("low", {"low"}, 1, 2000).chain("hog", {"hog"}, 0);
    auto application = on_cpus(builder.done(), 4);
    set_offset(application, 0, 1000.7);
    set_offset(application, 1, 0);
    set_offset(application, 2, 0);
    auto& trigger = application.callbacks[builder.index("between")].trigger;
    std::get<model::Subscription>(trigger).depth = 100;
    return application;
  };
  const double simulated = simulated_ms(make(true), 0);
  EXPECT_GT(simulated, 40);
  EXPECT_GE(bounds_ms(make(true))[0], simulated);
  EXPECT_EQ(bounds_ms(make(true))[0], bounds_ms(make(false))[0]);
}

// The sum over the instances since all had ended: two of 8 and half of the others' 16 end at 24,
// 12 after the release of the second one.
TEST(SeveralCpusLimits, InstancesUnderWayCountFromTheTimeAtWhichNoneWas) {
  const auto application = on_two_cpus({{"a", 60, 8}, {"b", 60, 8}, {"path", 12, 8}});
  EXPECT_EQ(bounds_ms(application)[2], 16);
  EXPECT_EQ(simulated_ms(application, 2), 16);
  const ChainBound bound = chain_bounds(application)[2];
  Ticks total = bound.waited;
  for (const Contribution& term : bound.why) {
    total += term.total;
  }
  EXPECT_EQ(total, *bound.bound);
}

TEST(SeveralCpusLimits, ALaterInstanceMayHaveTheLongestResponse) {
  // `a` and `b` keep both CPUs busy for 8 of the 14 that the first two of `path` need.
  const auto application = on_two_cpus({{"a", 13, 4}, {"b", 13, 4}, {"path", 8, 5}});
  const auto bounds = chain_bounds(application);
  ASSERT_TRUE(bounds[2].bound);
  EXPECT_GE(static_cast<double>(*bounds[2].bound) / 1e6, simulated_ms(application, 2));
  EXPECT_LT(bounds[2].waited, 0) << "the terms begin at the release of an earlier instance";
}

// The group's members are callbacks of one chain. Those of the instances before and after have
// ended or are not released, although the chain's response is more than half of its period.
TEST(SeveralCpusLimits, OtherInstancesOfAChainDelayItOnlyIfTheyAreUnderWay) {
  Builder builder;
  builder.timer("x", 8, 3).subscription("y", "x", 3).chain("other", {"x", "y"}, 5);
  builder.timer("a", 8, 2).group("g").priority(3);
  builder.subscription("b", "a", 1).group("g").priority(6);
  builder.subscription("c", "b", 2).group("g").priority(2).chain("chain", {"a", "b", "c"}, 0);
  const auto application = on_cpus(builder.done(), 2);
  for (const ExecutorKind kind : {ExecutorKind::kPreemptive, ExecutorKind::kThreadDispatch}) {
    EXPECT_EQ(bounds_ms(application, kind)[1], 5) << traits(kind).name;
  }
}

std::string note(const model::Application& application, std::size_t chain) {
  return chain_bounds(application)[chain].note;
}

TEST(SeveralCpusReasons, MoreWorkThanTheCpusCanDoIsStatedWithItsAmount) {
  const auto application = on_two_cpus({{"a", 10, 9}, {"b", 10, 8}, {"c", 20, 8}});
  EXPECT_EQ(note(application, 2),
            "no bound is found for 'c' (priority 1) on 2 CPUs: with all that is at least as urgent "
            "there, it needs 2.10 of 2 CPUs ('a' needs the most: 0.90)");
}

TEST(SeveralCpusReasons, WorkThatMayKeepAllCpusBusyTogetherIsStatedWithWhatItLeaves) {
  const auto application = on_two_cpus({{"a", 10, 6}, {"b", 10, 6}, {"c", 20, 9}});
  EXPECT_EQ(note(application, 2),
            "no bound is found for 'c' (priority 1) on 2 CPUs: it needs 0.45 of a CPU, with all "
            "that it may have to wait for while a CPU is idle; other work at least as urgent needs "
            "1.20 CPUs and may use all of them at the same times, which leaves 0.40 ('a' needs the "
            "most: 0.60)");
}

// Each counts work of the others that was released before. Only queues limit that.
TEST(SeveralCpusReasons, BoundsThatGrowTogetherNameEachOtherUnlessQueuesLimitThem) {
  Builder builder;
  for (const char* const id : {"a", "b", "c", "d"}) {
    builder.timer(id, 10, 3.5).chain(id, {id}, 1);
  }
  auto application = on_cpus(builder.done(), 2);
  EXPECT_GE(bounds_ms(application)[0], simulated_ms(application, 0));
  for (model::Callback& each : application.callbacks) {
    each.trigger = model::Event{.min_interval = ms(10), .max_interval = ms(10), .depth = 1'000'000};
  }
  EXPECT_THAT(note(application, 0),
              testing::HasSubstr("'a' (priority 1) on 2 CPUs: its bound and that of 'b' depend on "
                                 "each other"));
}

TEST(SeveralCpusReasons, ASynchroniserNamesTheInputWithoutABound) {
  const auto application = on_cpus(Builder()
                                       .timer("a", 20, 1)
                                       .timer("b", 20, 25)
                                       .sync("s", "a", "b", 1, 5)
                                       .chain("a", {"a", "s"}, 1)
                                       .chain("b", {"b", "s"}, 1)
                                       .done(),
                                   2);
  EXPECT_THAT(note(application, 1), testing::HasSubstr("no bound is found for 'b' (priority 1)"));
  EXPECT_THAT(note(application, 0),
              testing::HasSubstr("synchroniser 's' waits for it: 'b' (priority 1) on 2 CPUs: it "
                                 "needs 1.25 of a CPU"));
}

}  // namespace
}  // namespace rclrt::analysis
