// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <climits>
#include <cstdint>
#include <ratio>

#include "rclrt/realtime/deadline.hpp"

namespace rclrt::realtime {
namespace {

TEST(MonotonicClock, SleepsUntilItsDeadlineAndNotLess) {
  const std::int64_t deadline_ns = monotonic_now_ns() + 2'000'000;
  sleep_until_ns(deadline_ns);
  EXPECT_GE(monotonic_now_ns(), deadline_ns);
}

TEST(MonotonicClock, ASleepUntilATimeThatHasPassedReturnsAlsoWhenTheKernelRefusesTheTime) {
  sleep_until_ns(1);
  sleep_until_ns(-1);  // would call the kernel for ever if it took the refusal for a signal
  sleep_until_ns(INT64_MIN);
  SUCCEED();
}

TEST(Timespec, HoldsTheSameTimeAsTheNumber) {
  const timespec time = to_timespec(3'000'000'007);
  EXPECT_EQ(time.tv_sec, 3);
  EXPECT_EQ(time.tv_nsec, 7);
  EXPECT_EQ(to_nanoseconds(time), 3'000'000'007);
}

TEST(Deadlines, BeyondTheEndOfTheClockAreNever) {
  using Clock = std::chrono::steady_clock;
  using Hours = std::chrono::duration<std::int64_t, std::ratio<3600>>;
  EXPECT_EQ(to_deadline_ns(Hours::max()), kNever);
  EXPECT_EQ(to_deadline_ns(Clock::time_point::max()), kNever);
  EXPECT_EQ(to_deadline_ns(std::chrono::time_point<Clock, Hours>::max()), kNever);
  EXPECT_EQ(to_deadline_ns(Clock::time_point(std::chrono::nanoseconds(7))), 7);
}

}  // namespace
}  // namespace rclrt::realtime
