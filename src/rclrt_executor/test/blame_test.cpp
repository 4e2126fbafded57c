// SPDX-License-Identifier: Apache-2.0
// The parts of response times, on timelines made by hand. Times are in arbitrary units.
#include "rclrt/executor/blame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rclrt::executor::test {
namespace {

Blame explained(std::int64_t from, std::int64_t until, const std::vector<ExecutionInterval>& own,
                const std::vector<ExecutionInterval>& others, std::size_t cpus = 1) {
  const std::size_t all = own.size() + others.size();
  std::vector<BlameScratch::Event> events(3 * all);
  std::vector<std::uint32_t> active(all);
  std::vector<BlameScratch::Tally> tallies(all);
  return explain(from, until, own, others, cpus,
                 {.events = events, .active = active, .tallies = tallies});
}

ExecutionInterval interval(std::string_view callback, int level, std::int64_t start,
                           std::int64_t end, std::int64_t cpu = -1) {
  return {.callback = callback,
          .level = level,
          .priority = level,
          .ready_ns = start,
          .start_ns = start,
          .end_ns = end,
          .cpu_ns = cpu};
}

/// Ready at 0.
ExecutionInterval victim(int level, std::int64_t start, std::int64_t end, std::int64_t cpu = -1) {
  ExecutionInterval result = interval("victim", level, start, end, cpu);
  result.ready_ns = 0;
  return result;
}

struct Expected {
  std::string callback;
  Reason reason;
  std::int64_t time;
  bool operator==(const Expected&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Expected& one) {
  return out << one.callback << " (" << to_string(one.reason) << ") " << one.time;
}

std::vector<Expected> culprits(const Blame& blame) {
  std::vector<Expected> result;
  for (const Culprit& one : blame.listed()) {
    result.push_back({std::string(one.callback), one.reason, one.time_ns});
  }
  return result;
}

using List = std::vector<Expected>;

TEST(Blame, AnInstanceAloneTookItsOwnTimeAndTheRestIsUnexplained) {
  const Blame blame = explained(0, 10, {victim(5, 1, 10, 7)}, {});
  EXPECT_EQ(blame.waiting_ns, 1);
  EXPECT_EQ(blame.execution_ns, 7);
  EXPECT_EQ(blame.delayed_ns, 0);
  EXPECT_EQ(blame.unexplained_ns, 3);
  EXPECT_EQ(blame.culprits, 0U);
}

TEST(Blame, WhoRanBeforeItsStartAndWhoPreemptedItAreNamedWithTheirTime) {
  const Blame blame = explained(0, 20, {victim(5, 4, 20, 10)},
                                {interval("before", 7, -3, 4), interval("preempts", 9, 8, 14, 6),
                                 interval("past", 9, -9, -3)});
  EXPECT_EQ(culprits(blame),
            (List{{"preempts", Reason::kMoreUrgent, 6}, {"before", Reason::kMoreUrgent, 4}}));
  EXPECT_EQ(blame.waiting_ns, 4);
  EXPECT_EQ(blame.preempted_ns, 6);
  EXPECT_EQ(blame.delayed_ns, 10);
  EXPECT_EQ(blame.execution_ns, 10);
  EXPECT_EQ(blame.unexplained_ns, 0);
}

TEST(Blame, OneThatTookNoTimeByTheClockIsNotInTheWay) {
  const Blame blame = explained(0, 10, {victim(5, 6, 10, 4)}, {interval("short", 9, 2, 2)});
  EXPECT_EQ(culprits(blame), List{});
  EXPECT_EQ(blame.execution_ns, 4);
  EXPECT_EQ(blame.unexplained_ns, 6);
}

TEST(Blame, OneThatIsItselfPreemptedIsNotBlamedForThatTime) {
  const Blame blame = explained(0, 12, {victim(5, 10, 12, 2)},
                                {interval("middle", 6, 0, 10, 3), interval("high", 9, 2, 9, 7)});
  EXPECT_EQ(culprits(blame),
            (List{{"high", Reason::kMoreUrgent, 7}, {"middle", Reason::kMoreUrgent, 3}}));
}

TEST(Blame, ALessUrgentOneThatIsPreemptedAllTheWhileIsNotNamed) {
  const Blame blame = explained(0, 12, {victim(5, 0, 12, 12)}, {interval("low", 1, -50, 40)});
  EXPECT_EQ(culprits(blame), List{});
  EXPECT_EQ(blame.execution_ns, 12);
}

TEST(Blame, ALessUrgentMemberOfItsGroupIsMarkedAsBlocking) {
  const int group = 0;
  ExecutionInterval member = interval("member", 1, -2, 6);
  member.priority = 5;  // the ceiling
  member.group = &group;
  ExecutionInterval self = victim(5, 6, 8, 2);
  self.group = &group;
  const Blame blame = explained(0, 8, {self}, {member});
  EXPECT_EQ(culprits(blame), (List{{"member", Reason::kGroup, 6}}));
}

TEST(Blame, UnderDeadlinesTheEarlierOneIsMoreUrgentWhateverTheLevels) {
  ExecutionInterval own = victim(5, 6, 8);
  own.deadline_ns = 20;
  own.priority = 0;
  ExecutionInterval earlier = interval("earlier", 1, 0, 1);
  earlier.deadline_ns = 19;
  ExecutionInterval equal = interval("equal", 9, 1, 3);
  equal.deadline_ns = 20;
  ExecutionInterval later = interval("later", 9, 3, 6);
  later.deadline_ns = 21;
  const Blame blame = explained(0, 8, {own}, {earlier, equal, later});
  EXPECT_EQ(culprits(blame), (List{{"later", Reason::kLessUrgent, 3},
                                   {"equal", Reason::kSameLevel, 2},
                                   {"earlier", Reason::kMoreUrgent, 1}}));
}

TEST(Blame, ALessUrgentOneThatNothingPreemptsIsAnInversion) {
  const Blame blame = explained(0, 8, {victim(5, 6, 8, 2)}, {interval("low", 1, -2, 6)});
  EXPECT_EQ(culprits(blame), (List{{"low", Reason::kLessUrgent, 6}}));
}

TEST(Blame, WithACpuFreeOnlyItsGroupAndItsLevelCanBeInTheWay) {
  const Blame blame = explained(0, 10, {victim(5, 8, 10, 2)},
                                {interval("elsewhere", 9, 0, 8), interval("queue", 5, 2, 5)}, 3);
  EXPECT_EQ(culprits(blame), (List{{"queue", Reason::kSameLevel, 3}}));
  EXPECT_EQ(blame.unexplained_ns, 5);
}

TEST(Blame, OnTwoCpusBothWhoHaveOneAreNamed) {
  const Blame blame =
      explained(0, 10, {victim(5, 4, 10, 6)},
                {interval("a", 9, 0, 4), interval("b", 8, 0, 4), interval("c", 7, 0, 4)}, 2);
  EXPECT_EQ(culprits(blame), (List{{"a", Reason::kMoreUrgent, 4}, {"b", Reason::kMoreUrgent, 4}}));
  EXPECT_EQ(blame.delayed_ns, 4);
}

TEST(Blame, TheStagesOfAChainAreOneAndTheWayBetweenThemIsTransit) {
  ExecutionInterval second = interval("second", 5, 9, 12, 3);
  second.ready_ns = 6;
  const Blame blame =
      explained(0, 12, {victim(5, 0, 4, 4), second}, {interval("high", 9, 6, 9, 3)});
  EXPECT_EQ(culprits(blame), (List{{"high", Reason::kMoreUrgent, 3}}));
  EXPECT_EQ(blame.execution_ns, 7);
  EXPECT_EQ(blame.transit_ns, 2);
  EXPECT_EQ(blame.unexplained_ns, 0);
}

TEST(Blame, OfManyCulpritsTheWorstAreListedInOrderAndAllAreCounted) {
  std::vector<ExecutionInterval> others;
  for (int i = 1; i <= 12; ++i) {
    others.push_back(interval("c" + std::string(), 9, i * 100, i * 100 + i));
  }
  const Blame blame = explained(0, 2000, {victim(1, 1999, 2000)}, others);
  ASSERT_EQ(blame.listed().size(), 8U);
  EXPECT_EQ(blame.culprits, 12U);
  EXPECT_EQ(blame.listed().front().time_ns, 12);
  EXPECT_EQ(blame.listed().back().time_ns, 5);
}

TEST(Blame, WhatItComputedOfItsTimeIsAtMostItsCpuTime) {
  const Blame blame = explained(0, 10, {victim(5, 8, 10)}, {interval("sleeper", 9, 0, 8, 1)});
  EXPECT_EQ(blame.listed().front().time_ns, 8);
  EXPECT_EQ(blame.listed().front().cpu_ns, 1);
}

}  // namespace
}  // namespace rclrt::executor::test
