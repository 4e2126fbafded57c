// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/timer_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_callback.hpp"
#include "timer_release.hpp"

namespace rclrt::executor {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(TimerSchedule, ReleasesOnTheGridWhateverTheLateness) {
  detail::TimerSchedule schedule(10);
  schedule.start(100, 0);
  EXPECT_EQ(schedule.take(103, OverrunPolicy::kCatchUp).nominal_ns, 100);
  EXPECT_EQ(schedule.take(119, OverrunPolicy::kCatchUp).nominal_ns, 110);
  EXPECT_EQ(schedule.next_ns(), 120);
}

TEST(TimerSchedule, CatchUpTakesEachMissedRelease) {
  detail::TimerSchedule schedule(10);
  schedule.start(100, 0);
  for (const std::int64_t nominal : {100, 110, 120}) {
    const auto release = schedule.take(125, OverrunPolicy::kCatchUp);
    EXPECT_EQ(release.nominal_ns, nominal);
    EXPECT_EQ(release.skipped, 0U);
  }
  EXPECT_EQ(schedule.next_ns(), 130);
}

TEST(TimerSchedule, SkipRunsTheOldestAndStaysOnTheGrid) {
  detail::TimerSchedule schedule(10);
  schedule.start(100, 0);
  const auto release = schedule.take(125, OverrunPolicy::kSkip);
  EXPECT_EQ(release.nominal_ns, 100);
  EXPECT_EQ(release.skipped, 2U);  // 110 and 120
  EXPECT_EQ(schedule.next_ns(), 130);
}

TEST(TimerSchedule, SkipKeepsAReleaseThatIsDueJustNow) {
  detail::TimerSchedule schedule(10);
  schedule.start(100, 0);
  EXPECT_EQ(schedule.take(110, OverrunPolicy::kSkip).skipped, 0U);
  EXPECT_EQ(schedule.next_ns(), 110);
}

TEST(TimerSchedule, RebaseCountsThePeriodFromNow) {
  detail::TimerSchedule schedule(10);
  schedule.start(100, 0);
  EXPECT_EQ(schedule.take(125, OverrunPolicy::kRebase).nominal_ns, 100);
  EXPECT_EQ(schedule.next_ns(), 135);
}

TEST(TimerSchedule, TimesBeyondTheEndOfTheClockMeanNever) {
  detail::TimerSchedule schedule(INT64_MAX);
  schedule.start(1'000, INT64_MAX);
  EXPECT_EQ(schedule.next_ns(), INT64_MAX);
  schedule.start(1'000, 0);
  EXPECT_EQ(schedule.take(2'000, OverrunPolicy::kCatchUp).nominal_ns, 1'000);
  EXPECT_EQ(schedule.next_ns(), INT64_MAX);
}

TEST(TimerCallback, ReleasesBeyondItsCreditsAreDroppedAtOnceHoweverManyAreDue) {
  test::TestTimer timer(test::timer_named("t", 0, 2), {.period_ns = 1}, {});
  schedule_of(timer).start(0, 0);
  const std::int64_t now = 1'000'000'000'000'000;  // ten to the fifteen releases
  EXPECT_NE(expire(timer, now), nullptr);
  EXPECT_NE(expire(timer, now), nullptr);
  EXPECT_EQ(expire(timer, now), nullptr);
  EXPECT_EQ(schedule_of(timer).next_ns(), now + 1);
  EXPECT_EQ(timer.counters().released, static_cast<std::uint64_t>(now) + 1);
  EXPECT_EQ(timer.counters().pending(), 2U);
}

TEST(TimerSchedule, RefusesAPeriodThatIsNotPositive) {
  EXPECT_THAT([&] { detail::TimerSchedule(0); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a timer's period must be positive, not 0 ns")));
  EXPECT_THAT([&] { detail::TimerSchedule(-1); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("a timer's period must be positive, not -1 ns")));
}

TEST(TimerCallback, CountsSkippedReleasesAsDropped) {
  test::TestTimer timer(test::timer_named("t"), {.period_ns = 10, .overrun = OverrunPolicy::kSkip},
                        {});
  schedule_of(timer).start(100, 0);
  Instance* const instance = expire(timer, 125);
  ASSERT_NE(instance, nullptr);
  EXPECT_EQ(instance->release_ns, 100);
  EXPECT_EQ(timer.counters().released, 3U);
  EXPECT_EQ(timer.counters().dropped, 2U);
  EXPECT_EQ(timer.counters().pending(), 1U);
}

}  // namespace
}  // namespace rclrt::executor
