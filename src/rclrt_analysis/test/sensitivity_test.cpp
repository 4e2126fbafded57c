// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/sensitivity.hpp"

#include <gtest/gtest.h>

#include <array>
#include <rclrt/model/parse.hpp>
#include <string>
#include <utility>

#include "application_builder.hpp"
#include "rclrt/analysis/analyse_tasks.hpp"
#include "rclrt/analysis/assign.hpp"
#include "sampling.hpp"

namespace rclrt::analysis {
namespace {

/// a runs before b: R(a) = C(a), R(b) = C(b) + ceil(R(b) / 10) C(a).
model::Application two_chains() {
  return Builder()
      .timer("a", 10, 2)
      .timer("b", 20, 6)
      .chain("a", {"a"}, 2, 5)
      .chain("b", {"b"}, 1)
      .done();
}

Sensitivity of(const model::Application& application) {
  return sensitivity(application, ExecutorKind::kPreemptive, {});
}

TEST(Sensitivity, TheLargestTimesOfTwoChainsByHand) {
  const Sensitivity found = of(two_chains());
  // a: its deadline of 5 is the limit before b's 6 + 2 C <= 20.
  EXPECT_EQ(found.wcets[0].limit, ms(5).count());
  // b: C + 2 * 2 <= 20.
  EXPECT_EQ(found.wcets[1].limit, ms(16).count());
  // Together: a's 2 f <= 5, and 10 f <= 20 for b.
  EXPECT_EQ(found.factor.limit, 2'000'000);
  // b's response must end at a release of a, n T = 6 + 2 n <= 20: n = 7, T = 20 / 7 rounded up.
  EXPECT_EQ(found.periods[0].limit, 2'857'143);
  // b's own period, with its deadline of 20: below 6 / 0.8 the load is more than the core.
  EXPECT_EQ(found.periods[1].limit, ms(7.5).count());
  for (const Margin& margin : {found.factor, found.wcets[0], found.wcets[1], found.periods[0]}) {
    EXPECT_TRUE(margin.monotone);
    EXPECT_FALSE(margin.unlimited);
  }
}

TEST(Sensitivity, ALimitIsConditionalIfTheMachineOrTheLoadThereMakesItSo) {
  const auto with = [](const Machine& machine) {
    return sensitivity(two_chains(), ExecutorKind::kPreemptive, machine);
  };
  EXPECT_FALSE(with({}).wcets[0].conditional);
  const Sensitivity unmeasured = with(Machine::unmeasured());
  EXPECT_EQ(unmeasured.wcets[0].limit, with({}).wcets[0].limit);
  EXPECT_TRUE(unmeasured.factor.conditional);
  EXPECT_TRUE(unmeasured.wcets[0].conditional);
  EXPECT_TRUE(unmeasured.periods[1].conditional);
  // The kernel leaves 90 % of the CPU. At a's limit of 5 ms the load is 5 / 10 + 6 / 20 = 80 %, at
  // b's limit of 16 ms it is 2 / 10 + 16 / 20 = 100 %.
  const Sensitivity limited = with({.realtime_share = 0.9});
  EXPECT_FALSE(limited.wcets[0].conditional);
  EXPECT_TRUE(limited.wcets[1].conditional);
}

TEST(Sensitivity, TheLimitsOfAChainThatSamplesCount) {
  // b reads what a stores, and is less urgent. So the age is at most a's period and b's response,
  // which is C(b) + C(a) up to 10 ms.
  const auto with = [](const std::string& limits) {
    return of(test::sampling_application(
        test::two_timers("timer: {period_ms: 10}, wcet_ms: 1, priority: 2",
                         "timer: {period_ms: 20}, wcet_ms: 2, priority: 1", limits)));
  };
  EXPECT_EQ(with(", max_age_ms: 16").wcets[1].limit, ms(5).count());
  EXPECT_EQ(with(", max_age_ms: 16").wcets[0].limit, ms(4).count());
  EXPECT_GT(with("").wcets[1].limit.value(), ms(5).count());
}

TEST(Sensitivity, ADeadlineOfManyPeriodsIsNoReasonToRefuseTheStatedValues) {
  const auto parsed = model::parse_application(R"(rclrt: 1
name: late
executors: [{name: main, cpus: [1]}]
nodes: [{name: robot}]
callbacks:
  - {id: a, node: robot, timer: {period_ms: 20}, wcet_ms: 0.005, deadline_ms: 402}
  - {id: b, node: robot, timer: {period_ms: 20}, wcet_ms: 10, deadline_ms: 9000}
  - {id: c, node: robot, timer: {period_ms: 12.361}, wcet_ms: 6.173, deadline_ms: 9000}
chains:
  - {id: a, callbacks: [a], deadline_ms: 402}
  - {id: b, callbacks: [b], deadline_ms: 9000}
  - {id: c, callbacks: [c], deadline_ms: 9000}
)");
  ASSERT_TRUE(parsed.application);
  const Sensitivity found = sensitivity(*parsed.application, ExecutorKind::kEdf, {});
  EXPECT_GT(found.factor.limit, 1'000'000);
  EXPECT_GT(found.wcets[0].limit, ms(0.005).count());
  EXPECT_GT(found.wcets[1].limit, ms(10).count());
  EXPECT_LT(found.periods[0].limit, ms(20).count());
}

TEST(Sensitivity, AnApplicationThatNeedsMoreStepsGetsThem) {
  const Sensitivity found = sensitivity(two_chains(), ExecutorKind::kEdf, {}, {.steps = 1});
  const Sensitivity expected = sensitivity(two_chains(), ExecutorKind::kEdf, {});
  EXPECT_GT(expected.factor.limit.value(), 1'000'000);
  EXPECT_EQ(found.factor.limit, expected.factor.limit);
  EXPECT_EQ(found.wcets[0].limit, expected.wcets[0].limit);
}

TEST(Sensitivity, TheLimitHoldsAndTheNextNanosecondDoesNot) {
  auto application = two_chains();
  const Sensitivity found = of(application);
  const auto proved = [&] {
    for (const ChainBound& bound : chain_bounds(application)) {
      if (bound.verdict != Verdict::kProved) {
        return false;
      }
    }
    return true;
  };
  auto& period = std::get<model::Timer>(application.callbacks[0].trigger).period;
  period = model::Nanoseconds(*found.periods[0].limit);
  EXPECT_TRUE(proved());
  --period;
  EXPECT_FALSE(proved());
}

/// Five timers with a subscription each; the last one is the most urgent.
model::Application five_pairs() {
  struct Pair {
    double period_ms;
    Ticks wcet;
    Ticks wcet_after;
  };
  constexpr std::array<Pair, 5> kPairs{{{32, 2'650'007, 1'052'856},
                                        {33, 1'820'653, 458'068},
                                        {23, 1'849'045, 148'103},
                                        {27, 337'876, 955'675},
                                        {21, 864'045, 570'664}}};
  Builder builder;
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    const std::string id = "t" + std::to_string(i);
    const int priority = static_cast<int>(i);
    builder.timer(id, kPairs[i].period_ms, 0).priority(priority).subscription("s" + id, id, 0);
    builder.chain(id, {id, "s" + id}, priority);
  }
  model::Application application = builder.done();
  for (std::size_t i = 0; i < kPairs.size(); ++i) {
    application.callbacks[2 * i].wcet = model::Nanoseconds(kPairs[i].wcet);
    application.callbacks[2 * i + 1].wcet = model::Nanoseconds(kPairs[i].wcet_after);
  }
  return application;
}

/// With a period of t0 of 5'087'144 ns the load is 1 - 1.3e-7, and with 1 ns less it is above 1:
/// busy periods take minutes there. The steps are enough for the chains one by one, but not for all
/// of them in one analysis. Under EDF the same happens with the period of t3.
TEST(Sensitivity, AtALoadOfAlmostOneTheLimitIsThatOfAWholeAnalysis) {
  constexpr Ticks kFirstBelowOne_ns = 5'087'144;
  for (const auto& [kind, timer] :
       {std::pair{ExecutorKind::kPreemptive, 0U}, std::pair{ExecutorKind::kEdf, 6U}}) {
    model::Application application = five_pairs();
    const Sensitivity found = sensitivity(application, kind, {});
    auto& period = std::get<model::Timer>(application.callbacks[timer].trigger).period;
    const auto proved = [&, &kind = kind](Ticks value) {
      period = model::Nanoseconds(value);
      return quality(application, kind, {}, {.steps = 40'000'000}).not_proved == 0;
    };
    const Ticks limit = found.periods[timer].limit.value();
    EXPECT_TRUE(proved(limit)) << limit;
    EXPECT_FALSE(proved(limit - 1)) << limit;
    if (kind == ExecutorKind::kPreemptive) {
      EXPECT_EQ(limit, kFirstBelowOne_ns + 1);
    }
  }
}

TEST(Sensitivity, WhatDisturbsNobodyIsUnlimited) {
  const auto application =
      Builder().timer("a", 10, 2).timer("background", 10, 1).chain("a", {"a"}, 2).done();
  const Sensitivity found = of(application);
  EXPECT_TRUE(found.wcets[1].unlimited);
  EXPECT_TRUE(found.periods[1].unlimited);
  EXPECT_FALSE(found.wcets[0].unlimited);
}

TEST(Sensitivity, WhatIsNotProvedHasMarginsBelowOneOrNone) {
  const auto application = Builder()
                               .timer("a", 10, 6)
                               .timer("b", 20, 12)
                               .chain("a", {"a"}, 2)
                               .chain("b", {"b"}, 1)
                               .done();  // U = 1.2
  const Sensitivity found = of(application);
  // C(b) + 2 C(a): 24 f <= 20.
  EXPECT_EQ(found.factor.limit, 833'333);
  EXPECT_EQ(found.wcets[0].limit, ms(4).count());
  EXPECT_EQ(found.wcets[1].limit, ms(8).count());
  EXPECT_EQ(found.periods[0].limit, ms(18).count());  // 12 + 6 at once, then the next release
  // b's period does not help: its deadline stays.
  EXPECT_FALSE(found.periods[1].limit);
}

// Burns and Wellings: (3, 7), (3, 12), (5, 20) have the responses 3, 6, 20: no time is left.
TEST(Sensitivity, ATaskSetAtItsLimit) {
  std::vector<Task> tasks(3);
  tasks[0] = {.id = "a", .wcet = 3, .period = 7, .deadline = 7, .priority = 3};
  tasks[1] = {.id = "b", .wcet = 3, .period = 12, .deadline = 12, .priority = 2};
  tasks[2] = {.id = "c", .wcet = 5, .period = 20, .deadline = 20, .priority = 1};
  const Sensitivity found = sensitivity(tasks, Policy::kFpPreemptive);
  EXPECT_EQ(found.factor.limit, 1'000'000);
  EXPECT_EQ(found.wcets[0].limit, 3);
  EXPECT_EQ(found.wcets[1].limit, 3);
  EXPECT_EQ(found.wcets[2].limit, 5);
  EXPECT_EQ(found.periods[0].limit, 7);
  EXPECT_EQ(found.periods[1].limit, 10);  // 5 + 3 ceil(20 / 7) + 3 ceil(20 / 10)
}

// Demand of EDF with D = T: U = 1.
TEST(Sensitivity, EdfReachesFullLoad) {
  std::vector<Task> tasks(2);
  tasks[0] = {.id = "a", .wcet = 2, .period = 5, .deadline = 5};
  tasks[1] = {.id = "b", .wcet = 2, .period = 10, .deadline = 10};
  const Sensitivity found = sensitivity(tasks, Policy::kEdf);
  EXPECT_EQ(found.wcets[0].limit, 4);
  EXPECT_EQ(found.wcets[1].limit, 6);
  EXPECT_EQ(found.factor.limit, 1'500'000);
}

}  // namespace
}  // namespace rclrt::analysis
