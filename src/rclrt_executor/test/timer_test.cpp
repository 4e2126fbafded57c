// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/timer.hpp"

#include <gtest/gtest.h>

#include "test_callback.hpp"

namespace rclrt::executor {
namespace {

TEST(TimerSchedule, ReleasesOnTheGridWhateverTheLateness) {
  TimerSchedule schedule(10);
  schedule.start(100);
  EXPECT_EQ(schedule.take(103, OverrunPolicy::kCatchUp).nominal_ns, 100);
  EXPECT_EQ(schedule.take(119, OverrunPolicy::kCatchUp).nominal_ns, 110);
  EXPECT_EQ(schedule.next_ns(), 120);
}

TEST(TimerSchedule, CatchUpTakesEachMissedRelease) {
  TimerSchedule schedule(10);
  schedule.start(100);
  for (const std::int64_t nominal : {100, 110, 120}) {
    const auto release = schedule.take(125, OverrunPolicy::kCatchUp);
    EXPECT_EQ(release.nominal_ns, nominal);
    EXPECT_EQ(release.skipped, 0U);
  }
  EXPECT_EQ(schedule.next_ns(), 130);
}

TEST(TimerSchedule, SkipRunsTheOldestAndStaysOnTheGrid) {
  TimerSchedule schedule(10);
  schedule.start(100);
  const auto release = schedule.take(125, OverrunPolicy::kSkip);
  EXPECT_EQ(release.nominal_ns, 100);
  EXPECT_EQ(release.skipped, 2U);  // 110 and 120
  EXPECT_EQ(schedule.next_ns(), 130);
}

TEST(TimerSchedule, SkipKeepsAReleaseThatIsDueJustNow) {
  TimerSchedule schedule(10);
  schedule.start(100);
  EXPECT_EQ(schedule.take(110, OverrunPolicy::kSkip).skipped, 0U);
  EXPECT_EQ(schedule.next_ns(), 110);
}

TEST(TimerSchedule, RebaseCountsThePeriodFromNow) {
  TimerSchedule schedule(10);
  schedule.start(100);
  EXPECT_EQ(schedule.take(125, OverrunPolicy::kRebase).nominal_ns, 100);
  EXPECT_EQ(schedule.next_ns(), 135);
}

TEST(TimerSchedule, RefusesAPeriodThatIsNotPositive) {
  EXPECT_THROW(TimerSchedule(0), std::invalid_argument);
  EXPECT_THROW(TimerSchedule(-1), std::invalid_argument);
}

TEST(TimerCallback, CountsSkippedReleasesAsDropped) {
  test::TestTimer timer(test::timer_named("t"),
                        {.period_ns = 10, .overrun = OverrunPolicy::kSkip}, {});
  timer.schedule().start(100);
  Instance* const instance = timer.expire(125);
  ASSERT_NE(instance, nullptr);
  EXPECT_EQ(instance->release_ns, 100);
  EXPECT_EQ(timer.counters().released, 3U);
  EXPECT_EQ(timer.counters().dropped, 2U);
  EXPECT_EQ(timer.counters().pending(), 1U);
}

}  // namespace
}  // namespace rclrt::executor
