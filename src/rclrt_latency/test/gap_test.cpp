// SPDX-License-Identifier: Apache-2.0
#include "gap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "spin_watch.hpp"

namespace rclrt::latency {
namespace {

using recorder::HostStall;
using testing::ElementsAre;
using testing::IsEmpty;

Gap stolen(int cpu, std::int64_t start_ns, std::int64_t end_ns) {
  return {.cpu = cpu, .start_ns = start_ns, .end_ns = end_ns, .stolen_ns = end_ns - start_ns};
}
Gap silent(int cpu, std::int64_t start_ns, std::int64_t end_ns) {
  return {.cpu = cpu, .start_ns = start_ns, .end_ns = end_ns, .silent_ns = end_ns - start_ns};
}

TEST(Divide, GivesTimeWithoutCpuTimeToTheHypervisor) {
  const Gap gap = divide(1, {100, 50, 7}, {1100, 60, 7});
  EXPECT_EQ(gap,
            (Gap{.cpu = 1, .start_ns = 100, .end_ns = 1100, .stolen_ns = 990, .silent_ns = 10}));
}

TEST(Divide, CallsTimeOnTheCpuWithoutAnInstructionSilent) {
  const Gap gap = divide(1, {100, 50, 7}, {1100, 1050, 7});
  EXPECT_EQ(gap.silent_ns, 1000);
  EXPECT_EQ(gap.unexplained_by_threads_ns(), 1000);
}

TEST(Divide, GivesTheRunDelayToOtherThreads) {
  const Gap gap = divide(1, {100, 50, 7}, {1100, 60, 907});
  EXPECT_EQ(gap.others_ns, 900);
  EXPECT_EQ(gap.silent_ns, 10);
  EXPECT_EQ(gap.stolen_ns, 90);
}

TEST(Divide, NeverGivesMoreThanTheWholeTime) {
  const Gap gap = divide(1, {100, 50, 7}, {1100, 5050, 5007});  // clocks that do not fit together
  EXPECT_EQ(gap.others_ns, 1000);
  EXPECT_EQ(gap.unexplained_by_threads_ns(), 0);
}

TEST(Judge, TakesStolenTimeForAStallOfTheMachine) {
  const std::vector<Gap> gaps{stolen(1, 500, 900), stolen(0, 100, 400)};
  const JudgedGaps judged = judge(gaps, 2);
  EXPECT_THAT(judged.stalls, ElementsAre(HostStall{.cpu = 0, .start_ns = 100, .end_ns = 400},
                                         HostStall{.cpu = 1, .start_ns = 500, .end_ns = 900}));
  EXPECT_THAT(judged.undecided, IsEmpty());
}

TEST(Judge, LeavesTheSilenceOfOneCpuUndecided) {
  const std::vector<Gap> gaps{silent(0, 100, 400), silent(1, 500, 900)};
  const JudgedGaps judged = judge(gaps, 2);
  EXPECT_THAT(judged.stalls, IsEmpty());
  EXPECT_THAT(judged.undecided, ElementsAre(gaps[0], gaps[1]));
}

TEST(Judge, TakesTheSilenceOfAllCpusAtOnceForAStallOfTheMachine) {
  const std::vector<Gap> gaps{silent(0, 100, 400), silent(1, 150, 420), silent(2, 90, 380)};
  EXPECT_EQ(judge(gaps, 3).stalls.size(), 3U);
  EXPECT_THAT(judge(gaps, 4).stalls, IsEmpty());  // the fourth CPU ran on
}

TEST(Judge, CannotKnowOfOneCpuAlone) {
  const std::vector<Gap> gaps{silent(0, 100, 400)};
  EXPECT_THAT(judge(gaps, 1).stalls, IsEmpty());
}

TEST(SpinWatch, KeepsGapsOfTheCpuThatItWatchesInOrder) {
  SpinWatch watch(0, 1000, 16);
  watch.start();
  while (watch.readings() < 10) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the watch runs only meanwhile
  }
  watch.stop();
  std::int64_t last_ns = 0;
  for (const Gap& gap : watch.gaps()) {
    EXPECT_EQ(gap.cpu, 0);
    EXPECT_GE(gap.start_ns, last_ns);
    EXPECT_EQ(gap.others_ns + gap.stolen_ns + gap.silent_ns, gap.end_ns - gap.start_ns);
    EXPECT_GE(gap.unexplained_by_threads_ns(), 1000);
    last_ns = gap.end_ns;
  }
}

}  // namespace
}  // namespace rclrt::latency
