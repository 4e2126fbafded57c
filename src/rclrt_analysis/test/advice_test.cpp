// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "rclrt/model/parse.hpp"

namespace rclrt::analysis {
namespace {

using Kind = Advice::Kind;
using testing::Optional;

constexpr Ticks kMs = 1'000'000;

/// A camera at 20 Hz, a planner that samples, and a controller at 200 Hz with a deadline.
std::string advised_robot(const std::string& planner = "timer: {period_ms: 20}",
                          const std::string& controller = "timer: {period_ms: 5}",
                          const std::string& loop = ", deadline_ms: 5") {
  return R"(rclrt: 1
name: robot
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: see, node: n, timer: {period_ms: 50}, wcet_ms: 4, stores: [seen]}
  - {id: plan, node: n, )" +
         planner + R"(, wcet_ms: 5, reads: [seen], stores: [path]}
  - {id: control, node: n, )" +
         controller + R"(, wcet_ms: 0.5, reads: [path]}
chains:
  - {id: loop, callbacks: [control], priority: 3)" +
         loop + R"(}
  - {id: way, callbacks: [see, plan, control], priority: 1, max_age_ms: 200}
)";
}

std::vector<CauseEffectAdvice> advice_for(const std::string& text,
                                          const char* executor = "preemptive") {
  model::ParseResult parsed = model::parse_application(text);
  for (const auto& problem : parsed.diagnostics) {
    ADD_FAILURE() << to_string(problem, "test");
  }
  return advise(parsed.application.value(), model::parse_executor(executor), {});
}

const Advice* find(const CauseEffectAdvice& advice, Kind kind, std::size_t segment) {
  const auto found = std::ranges::find_if(advice.changes, [&](const Advice& each) {
    return each.kind == kind && each.segment == segment;
  });
  return found == advice.changes.end() ? nullptr : &*found;
}

TEST(Advise, EachChangeHasTheBoundsThatAnApplicationWithItHas) {
  const auto advice = advice_for(advised_robot()).at(0);
  ASSERT_TRUE(advice.reaction && advice.age);
  const Advice* const faster = find(advice, Kind::kPeriod, 1);
  ASSERT_NE(faster, nullptr);
  EXPECT_THAT(faster->time, Optional(10 * kMs));
  const auto changed = advice_for(advised_robot("timer: {period_ms: 10}")).at(0);
  EXPECT_EQ(faster->reaction, changed.reaction);
  EXPECT_EQ(faster->age, changed.age);
  EXPECT_TRUE(faster->keeps_the_rest);
}

TEST(Advise, TheBestChangeThatKeepsTheRestComesFirst) {
  const auto advice = advice_for(advised_robot()).at(0);
  ASSERT_FALSE(advice.changes.empty());
  for (std::size_t i = 1; i < advice.changes.size(); ++i) {
    const Advice& one = advice.changes[i - 1];
    const Advice& next = advice.changes[i];
    EXPECT_GE(one.keeps_the_rest, next.keeps_the_rest);
    if (one.keeps_the_rest == next.keeps_the_rest) {
      EXPECT_LE(one.age, next.age);
    }
  }
  for (const Advice& each : advice.changes) {
    EXPECT_TRUE(each.age < advice.age || each.reaction < advice.reaction);
  }
}

TEST(Advise, AMessageInPlaceOfATimerRemovesTheWait) {
  const auto advice = advice_for(advised_robot()).at(0);
  const Advice* const message = find(advice, Kind::kMessage, 1);
  ASSERT_NE(message, nullptr);
  EXPECT_EQ(message->callback, 1U);
  EXPECT_LT(*message->age, *advice.age);
  // `control` has a deadline from its own release, so it stays a timer.
  EXPECT_EQ(find(advice, Kind::kMessage, 2), nullptr);
}

TEST(Advise, AnOffsetAfterTheResponseOfTheWriterShortensTheWait) {
  const auto advice = advice_for(advised_robot("timer: {period_ms: 50}")).at(0);
  const Advice* const offset = find(advice, Kind::kOffset, 1);
  ASSERT_NE(offset, nullptr);
  ASSERT_TRUE(offset->time);
  const std::string ms = std::to_string(static_cast<double>(*offset->time) / kMs);
  std::string text = advised_robot("timer: {period_ms: 50, offset_ms: " + ms + "}");
  const std::string see = "timer: {period_ms: 50}, wcet_ms: 4";
  text.replace(text.find(see), see.size(), "timer: {period_ms: 50, offset_ms: 0}, wcet_ms: 4");
  const auto changed = advice_for(text).at(0);
  EXPECT_EQ(offset->age, changed.age);
  EXPECT_EQ(offset->reaction, changed.reaction);
  EXPECT_LE(*offset->age, *advice.age - 30 * kMs);
}

TEST(Advise, AChangeThatBreaksAnotherDeadlineIsToldAndComesLast) {
  // More urgent than `control`, the planner takes 5 ms: the loop misses its deadline of 5 ms.
  const auto advice = advice_for(advised_robot()).at(0);
  const Advice* const urgent = find(advice, Kind::kUrgent, 1);
  ASSERT_NE(urgent, nullptr);
  EXPECT_FALSE(urgent->keeps_the_rest);
  EXPECT_EQ(&advice.changes.back() - &advice.changes.front(),
            static_cast<std::ptrdiff_t>(advice.changes.size()) - 1);
  EXPECT_FALSE(advice.changes.back().keeps_the_rest);
}

TEST(Advise, AReaderBelowItsWriterNeedsNoTimeForTheResponse) {
  const auto advice = advice_for(advised_robot()).at(0);
  const Advice* const patient = find(advice, Kind::kPatient, 1);
  ASSERT_NE(patient, nullptr);
  EXPECT_LT(*patient->age, *advice.age);
}

TEST(Advise, ADeadlineThatIsThePeriodFollowsIt) {
  // Without deadline_ms the deadline is the period: 5 ms, and 2.5 ms with the change. `see` is more
  // urgent than `control`, of which the bound is 1.2 + 1.4 ms.
  std::string text = advised_robot("timer: {period_ms: 20}", "timer: {period_ms: 5}", "");
  const auto change = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  change("wcet_ms: 4", "wcet_ms: 1.2, priority: 4");
  change("wcet_ms: 5", "wcet_ms: 0.1");
  change("wcet_ms: 0.5", "wcet_ms: 1.4");
  const auto advice = advice_for(text).at(0);
  const Advice* const faster = find(advice, Kind::kPeriod, 2);
  ASSERT_NE(faster, nullptr);
  EXPECT_FALSE(faster->keeps_the_rest);
}

TEST(Advise, AValueThatMovesAtADeadlineStaysOneAndItsReaderMayBeReleasedThen) {
  std::string text = advised_robot("timer: {period_ms: 50}");
  text += "  - {id: seeing, callbacks: [see], priority: 1, deadline_ms: 40, let: true}\n";
  const auto advice = advice_for(text).at(0);
  EXPECT_EQ(find(advice, Kind::kMessage, 1), nullptr);
  const Advice* const offset = find(advice, Kind::kOffset, 1);
  ASSERT_NE(offset, nullptr);
  EXPECT_THAT(offset->time, Optional(40 * kMs));
}

TEST(Advise, WithoutSuchAChainThereIsNoAdvice) {
  EXPECT_TRUE(advice_for(R"(rclrt: 1
name: plain
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks: [{id: a, node: n, timer: {period_ms: 50}, wcet_ms: 4}]
chains: [{id: only, callbacks: [a]}]
)")
                  .empty());
}

}  // namespace
}  // namespace rclrt::analysis
