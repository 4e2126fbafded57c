// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/clock.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>

namespace rclrt::realtime {
namespace {

TEST(MonotonicClock, SleepsUntilItsDeadlineAndNotLess) {
  const std::int64_t deadline_ns = monotonic_now_ns() + 2'000'000;
  sleep_until_ns(deadline_ns);
  EXPECT_GE(monotonic_now_ns(), deadline_ns);
}

TEST(MonotonicClock, ASleepUntilATimeThatHasPassedReturnsAlsoWhenTheKernelRefusesTheTime) {
  sleep_until_ns(1);
  sleep_until_ns(-1);  // would call the kernel for ever, if its refusal were taken for a signal
  sleep_until_ns(INT64_MIN);
  SUCCEED();
}

TEST(Timespec, HoldsTheSameTimeAsTheNumber) {
  const timespec time = to_timespec(3'000'000'007);
  EXPECT_EQ(time.tv_sec, 3);
  EXPECT_EQ(time.tv_nsec, 7);
  EXPECT_EQ(to_nanoseconds(time), 3'000'000'007);
}

}  // namespace
}  // namespace rclrt::realtime
