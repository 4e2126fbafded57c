// SPDX-License-Identifier: Apache-2.0
// What a run recorded for an interval. The callback `work` has 2 ms, and 0.1 ms to dispatch it.
#include "../src/evidence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rclrt::analysis::detail {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr Ticks kMs = 1'000'000;
constexpr Ticks kUs = 1'000;

Allowance allowed() {
  Allowance result;
  result.wcet = {{"work", 2 * kMs}};
  result.each = 100 * kUs;
  return result;
}

ObservedInstance work(Ticks ready, Ticks end, int priority, Ticks cpu = 0) {
  return {.callback = "work",
          .priority = priority,
          .ready = ready,
          .start = ready,
          .end = end,
          .cpu = cpu,
          .tokens = {}};
}

TEST(BusyTimes, GoOnWhileWorkOfTheirLevelIsLeft) {
  const std::vector rows{work(0, 10, 3), work(8, 20, 2), work(15, 30, 1), work(40, 50, 3)};
  const BusyTimes two(rows, ExecutorKind::kPreemptive, 2);
  EXPECT_EQ(two.around(18), (Span{0, 20}));
  EXPECT_EQ(two.around(20), (Span{0, 20}));
  EXPECT_EQ(two.around(25), (Span{25, 25})) << "only level 1 is busy";
  const BusyTimes one(rows, ExecutorKind::kPreemptive, 1);
  EXPECT_EQ(one.around(25), (Span{0, 30}));
  EXPECT_EQ(one.around(45), (Span{40, 50}));
  EXPECT_EQ(one.around(60), (Span{60, 60}));
  EXPECT_EQ(BusyTimes(rows, ExecutorKind::kWaitSet, 3).around(25), (Span{0, 30}))
      << "everything is in one queue";
}

Ticks lost(const std::vector<ObservedInstance>& rows,
           ExecutorKind executor = ExecutorKind::kPreemptive) {
  return OneCpu(rows, {}, executor, 3, 0, 4 * kMs).lost(allowed());
}

TEST(OneCpu, LessUrgentWorkCountsOnlyWhenItHadStartedBefore) {
  const ObservedInstance urgent = work(0, 4 * kMs, 3, 2 * kMs);
  ObservedInstance late = urgent;
  late.start = 2 * kMs;
  const ObservedInstance before = work(-1 * kMs, 2 * kMs, 1, 2 * kMs);
  const ObservedInstance after = work(1 * kMs, 3 * kMs, 1, 2 * kMs);
  const ObservedInstance preempted = work(-1 * kMs, 9 * kMs, 1, 2 * kMs);
  EXPECT_EQ(lost({urgent}), 1'900 * kUs);
  EXPECT_EQ(lost({late}), 1'900 * kUs);
  EXPECT_EQ(lost({late, before}), 0);
  EXPECT_EQ(lost({late, after}), 1'900 * kUs);
  EXPECT_EQ(lost({urgent, preempted}), 1'900 * kUs);
  EXPECT_EQ(lost({urgent, after}, ExecutorKind::kWaitSet), 0);
  const std::vector rows{urgent, after};
  const auto events = OneCpu(rows, {}, ExecutorKind::kPreemptive, 3, 0, 4 * kMs).events(allowed());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(to_string(events[0]),
            "work, less urgent, ran for 2.000 ms before what was ready, at 0.001000 s");
}

TEST(OneCpu, WorkThatGoesOnAfterwardsCountsUpToWhatWasLeftForIt) {
  const ObservedInstance urgent = work(1 * kMs, 4 * kMs, 3, 3 * kMs);
  const ObservedInstance longer = work(0, 9 * kMs, 3, 2 * kMs);  // it had the CPU for 1 of the 4 ms
  EXPECT_EQ(lost({longer, urgent}), 800 * kUs);
}

TEST(OneCpu, WorkBelowItsWcetLeavesNothingUnexplained) {
  Allowance patient = allowed();
  patient.background = 0.25;
  const std::vector rows{work(0, 3 * kMs, 3, 2 * kMs)};
  EXPECT_EQ(OneCpu(rows, {}, ExecutorKind::kPreemptive, 3, 0, 3 * kMs).lost(patient), 150 * kUs);
  patient.background = 0.5;
  EXPECT_THAT(OneCpu(rows, {}, ExecutorKind::kPreemptive, 3, 0, 3 * kMs).events(patient),
              IsEmpty());
}

// It waits for up to 1 ms, and is dispatched again after that.
TEST(OneCpu, WhatACallbackWaitsIsAccountedFor) {
  Allowance waiting = allowed();
  waiting.waits = {{"work", kMs}};
  const std::vector rows{work(0, 4 * kMs, 3, 2 * kMs)};
  const OneCpu cpu(rows, {}, ExecutorKind::kPreemptive, 3, 0, 4 * kMs);
  EXPECT_EQ(cpu.lost(waiting), 800 * kUs);  // 4 - 2 - 1, and two dispatches
  const auto events = cpu.events(waiting);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].excess, 800 * kUs);
  EXPECT_EQ(to_string(events[0]),
            "work was without the CPU for 2.000 ms that no callback used; 1.200 ms are allowed "
            "for, at 0.000000 s");
  waiting.waits = {{"work", 2 * kMs}};
  EXPECT_EQ(cpu.lost(waiting), 0);
  EXPECT_THAT(cpu.events(waiting), IsEmpty());
}

TEST(OneCpu, OnlyTheTimeInWhichACallbackDidNotHaveTheCpuCanBeAWait) {
  Allowance waiting = allowed();
  waiting.waits = {{"work", 2 * kMs}};
  const auto lost = [&](const std::vector<ObservedInstance>& rows) {
    return OneCpu(rows, {}, ExecutorKind::kPreemptive, 3, 0, 4 * kMs).lost(waiting);
  };
  EXPECT_EQ(lost({work(0, 2 * kMs, 3, 2 * kMs)}), 1'900 * kUs);  // it did not wait
  // The second one ran for 1 ms of the first one's wait, and waited for 1 ms itself.
  const ObservedInstance other = work(1 * kMs, 3 * kMs, 3, 1 * kMs);
  EXPECT_EQ(lost({work(0, 4 * kMs, 3, 1 * kMs), other}), 0);
  EXPECT_EQ(lost({work(0, 4 * kMs, 3, 1 * kMs), work(1 * kMs, 3 * kMs, 3, 2 * kMs)}), 0);
  EXPECT_EQ(lost({work(-5 * kMs, 1 * kMs, 3, 1 * kMs), work(2 * kMs, 4 * kMs, 3, 2 * kMs)}),
            800 * kUs);
}

TEST(StalledTime, StallsOfSeveralCpusCountOnce) {
  const std::vector<Stall> stalls{{0, 10, 20, 0}, {1, 15, 30, 0}, {1, 50, 60, 0}};
  EXPECT_EQ(stalled_time(stalls, {}, 0, 100), 30);
  const std::vector cpus{1};
  EXPECT_EQ(stalled_time(stalls, cpus, 0, 100), 25);
  EXPECT_EQ(stalled_time(stalls, cpus, 20, 55), 15);
}

ObservedInstance instance(const std::string& callback, const std::string& tokens, double ready_ms,
                          double end_ms) {
  const auto ready = static_cast<Ticks>(ready_ms * kMs);
  return {.callback = callback,
          .priority = 1,
          .ready = ready,
          .start = ready,
          .end = static_cast<Ticks>(end_ms * kMs),
          .cpu = 0,
          .tokens = tokens};
}

TEST(ChainPaths, AMessageBetweenExecutorsThatTookLongerThanTheHopIsNamed) {
  const std::vector rows{instance("a", "way:0", 0, 1), instance("b", "way:0;other:0", 1.5, 2),
                         instance("c", "way:0", 4, 5), instance("a", "way:1", 10, 11),
                         instance("b", "way:1", 11.1, 12)};
  Allowance hops = allowed();
  hops.hop = 200 * kUs;
  hops.executors = {{"a", 0}, {"b", 1}, {"c", 1}};
  const ChainPaths paths(rows);
  const std::vector<std::string> callbacks{"a", "b", "c"};  // b and c: one executor
  const auto events = paths.late_messages("way", 0, callbacks, hops);
  ASSERT_THAT(events, ElementsAre(Field(&Event::excess, 300 * kUs)));
  EXPECT_EQ(to_string(events[0]),
            "the message from a to b took 0.500 ms, and 0.200 ms are allowed for, at 0.001000 s");
  EXPECT_THAT(paths.late_messages("way", 1, callbacks, hops), IsEmpty());
  EXPECT_THAT(paths.late_messages("other", 0, callbacks, hops), IsEmpty()) << "unknown sender";
  hops.syncs = {"b"};
  EXPECT_THAT(paths.late_messages("way", 0, callbacks, hops), IsEmpty()) << "b is a sync";
}

TEST(ChainPaths, TheEarlierOfTwoRowsOfASyncCounts) {
  const std::vector rows{instance("a", "way:0", 0, 1), instance("b", "way:0", 9, 10),
                         instance("b", "way:0", 1, 2)};
  Allowance hops = allowed();
  hops.executors = {{"a", 0}, {"b", 1}};
  const std::vector<std::string> callbacks{"a", "b"};
  EXPECT_THAT(ChainPaths(rows).late_messages("way", 0, callbacks, hops), IsEmpty());
}

}  // namespace
}  // namespace rclrt::analysis::detail
