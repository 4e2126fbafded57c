// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/cyclic_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace rclrt::realtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CyclicSchedule, BeginsNowWithoutAFirstRelease) {
  CyclicSchedule schedule(10, OverrunPolicy::kSkip);
  schedule.start(123);
  EXPECT_EQ(schedule.nominal_ns(), 123);
  EXPECT_EQ(schedule.index(), 0U);
}

TEST(CyclicSchedule, WaitsForAFirstReleaseToCome) {
  CyclicSchedule schedule(10, OverrunPolicy::kSkip);
  schedule.start(123, 1000);
  EXPECT_EQ(schedule.nominal_ns(), 1000);
}

TEST(CyclicSchedule, BeginsInPhaseWithAFirstReleaseThatHasPassed) {
  CyclicSchedule schedule(10, OverrunPolicy::kSkip);
  schedule.start(123, 104);
  EXPECT_EQ(schedule.nominal_ns(), 124);
  schedule.start(123, 103);
  EXPECT_EQ(schedule.nominal_ns(), 123);
  EXPECT_EQ(schedule.index(), 0U);
}

TEST(CyclicSchedule, AReleaseAtTheVeryEndOfACycleIsNotLate) {
  for (const auto policy :
       {OverrunPolicy::kCatchUp, OverrunPolicy::kSkip, OverrunPolicy::kRebase}) {
    CyclicSchedule schedule(10, policy);
    schedule.start(100);
    const auto outcome = schedule.finish(110);
    EXPECT_FALSE(outcome.overrun);
    EXPECT_EQ(outcome.missed, 0U);
    EXPECT_EQ(schedule.nominal_ns(), 110);
  }
}

TEST(CyclicSchedule, CatchUpReleasesEveryPeriod) {
  CyclicSchedule schedule(10, OverrunPolicy::kCatchUp);
  schedule.start(100);
  const auto outcome = schedule.finish(135);
  EXPECT_TRUE(outcome.overrun);
  EXPECT_EQ(outcome.missed, 0U);
  EXPECT_EQ(schedule.nominal_ns(), 110);
  EXPECT_EQ(schedule.index(), 1U);
}

TEST(CyclicSchedule, SkipLeavesOutWhatHasPassedAndKeepsThePhase) {
  CyclicSchedule schedule(10, OverrunPolicy::kSkip);
  schedule.start(100);
  const auto outcome = schedule.finish(135);
  EXPECT_TRUE(outcome.overrun);
  EXPECT_EQ(outcome.missed, 3U);  // 110, 120, 130
  EXPECT_EQ(schedule.nominal_ns(), 140);
  EXPECT_EQ(schedule.index(), 4U);
}

TEST(CyclicSchedule, RebaseGoesOnOnePeriodFromNow) {
  CyclicSchedule schedule(10, OverrunPolicy::kRebase);
  schedule.start(100);
  const auto outcome = schedule.finish(135);
  EXPECT_TRUE(outcome.overrun);
  EXPECT_EQ(outcome.missed, 3U);
  EXPECT_EQ(schedule.nominal_ns(), 145);
  EXPECT_EQ(schedule.index(), 1U);
}

TEST(CyclicSchedule, BeyondTheEndOfTheClockThereIsNoRelease) {
  CyclicSchedule schedule(INT64_MAX / 2, OverrunPolicy::kSkip);
  schedule.start(INT64_MAX - 5);
  EXPECT_FALSE(schedule.finish(INT64_MAX - 1).overrun);
  EXPECT_EQ(schedule.nominal_ns(), INT64_MAX);
}

TEST(CyclicSchedule, RefusesAPeriodThatIsNotPositive) {
  EXPECT_THAT(
      [&] { CyclicSchedule(0, OverrunPolicy::kSkip); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a period must be positive, not 0 ns")));
}

/// Cycles of random length, from far shorter to far longer than the period, each started at its
/// release or, if late, at the end of the previous one.
class CyclicScheduleAccounting : public testing::TestWithParam<OverrunPolicy> {};

TEST_P(CyclicScheduleAccounting, EveryElapsedPeriodIsAReleaseOrCountedAsMissed) {
  std::mt19937_64 random(20'261'121);
  for (int repetition = 0; repetition < 200; ++repetition) {
    const auto period = static_cast<std::int64_t>(1 + random() % 1'000);
    const auto first = static_cast<std::int64_t>(random() % 10'000);
    CyclicSchedule schedule(period, GetParam());
    schedule.start(first);
    std::int64_t now = first;
    std::int64_t released = 0;
    std::int64_t missed = 0;
    std::int64_t shift = 0;  // by how much rebasing has moved the phase
    for (int cycle = 0; cycle < 200; ++cycle) {
      const std::int64_t nominal = schedule.nominal_ns();
      const std::uint64_t length = (random() % 4'000) >> (random() % 12);
      now = std::max(now, nominal) + static_cast<std::int64_t>(length);
      const auto outcome = schedule.finish(now);
      ++released;
      missed += static_cast<std::int64_t>(outcome.missed);
      ASSERT_EQ(outcome.overrun, now > nominal + period);
      const std::int64_t on_grid = first + (released + missed) * period + shift;
      switch (GetParam()) {
        case OverrunPolicy::kCatchUp:
          ASSERT_EQ(missed, 0);
          break;
        case OverrunPolicy::kSkip:
          ASSERT_GE(schedule.nominal_ns(), now);
          ASSERT_EQ(schedule.index(), static_cast<std::uint64_t>(released + missed));
          break;
        case OverrunPolicy::kRebase:
          if (outcome.overrun) {
            ASSERT_EQ(schedule.nominal_ns(), now + period);
            ASSERT_GT(schedule.nominal_ns() - on_grid, 0);
            ASSERT_LE(schedule.nominal_ns() - on_grid, period);
            shift += schedule.nominal_ns() - on_grid;
          }
          ASSERT_EQ(schedule.index(), static_cast<std::uint64_t>(released));
          break;
      }
      ASSERT_EQ(schedule.nominal_ns(), first + (released + missed) * period + shift);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, CyclicScheduleAccounting,
                         testing::Values(OverrunPolicy::kCatchUp, OverrunPolicy::kSkip,
                                         OverrunPolicy::kRebase));

}  // namespace
}  // namespace rclrt::realtime
