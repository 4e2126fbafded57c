// SPDX-License-Identifier: Apache-2.0
#include "host_clock.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "test_clock.hpp"
#include "times.hpp"

namespace {

using rclrt::clock::ClockReading;
using rclrt::clock::HostClock;
using rclrt::clock::TestClock;

using rclrt::clock::testing::kMillisecond;
using rclrt::clock::testing::kSecond;

constexpr std::int64_t kDifference = rclrt::clock::testing::kYear2026;  // of the two clocks

/// A clock that was read at `monotonic_ns` within 100 ns.
ClockReading reading(std::int64_t monotonic_ns, std::int64_t more_ns = 0) {
  return {monotonic_ns, monotonic_ns, monotonic_ns + kDifference + more_ns + 50,
          monotonic_ns + 100};
}

/// Returns the clock's times of these readings.
std::vector<std::uint64_t> sets_of(std::deque<ClockReading> readings) {
  std::vector<std::uint64_t> result;
  HostClock clock([&readings] {
    const ClockReading next = readings.front();
    readings.pop_front();
    return next;
  });
  while (!readings.empty()) {
    result.push_back(clock.now().sets);
  }
  return result;
}

TEST(HostClock, AClockThatRunsIsNotSet) {
  EXPECT_EQ(sets_of({reading(kSecond), reading(2 * kSecond), reading(5 * kSecond, 900)}),
            (std::vector<std::uint64_t>{0, 0, 0}));
}

TEST(HostClock, ASetClockIsCountedOnce) {
  EXPECT_EQ(sets_of({reading(1), reading(2, kMillisecond), reading(3, kMillisecond), reading(4)}),
            (std::vector<std::uint64_t>{0, 1, 1, 2}));
}

TEST(HostClock, TheLeastInterruptedOfSeveralReadingsIsTaken) {
  std::deque<ClockReading> readings{{1'000, 1'000, kDifference + 900'000, 950'000},
                                    {1'000'000, 1'000'000, kDifference + 1'000'200, 1'000'300},
                                    {2'000'000, 2'000'000, 0, 2'000'100}};
  HostClock clock([&readings] {
    const ClockReading next = readings.front();
    readings.pop_front();
    return next;
  });
  EXPECT_EQ(clock.now().realtime_ns, kDifference + 1'000'200);
  EXPECT_EQ(readings.size(), 1U);
}

TEST(HostClock, ThisMachinesClockIsReadInOrder) {
  HostClock clock;
  const auto first = clock.now();
  const auto second = clock.now();
  EXPECT_GT(first.realtime_ns, kDifference / 10);
  EXPECT_GE(second.monotonic_ns, first.monotonic_ns);
  EXPECT_EQ(second.sets, 0U);
}

TEST(TestClock, AnOffsetADriftAndStepsAreAdded) {
  const TestClock clock("offset_ms=40 drift_ppm=80@10 step_ms=-7@20 step_ms=0.5@30");
  EXPECT_EQ(clock.apply(reading(kSecond)).realtime_ns,
            reading(kSecond).realtime_ns + 40 * kMillisecond);
  EXPECT_EQ(clock.apply(reading(kSecond)).before_ns, kSecond);
  // A drift of 80 ppm for five seconds: 0.4 ms, of both clocks.
  EXPECT_EQ(clock.apply(reading(15 * kSecond)).realtime_ns,
            reading(15 * kSecond).realtime_ns + 40'400'000);
  EXPECT_EQ(clock.apply(reading(15 * kSecond)).before_ns, 15 * kSecond + 400'000);
  EXPECT_EQ(clock.apply(reading(20 * kSecond)).realtime_ns,
            reading(20 * kSecond).realtime_ns + 33'800'000);
  EXPECT_EQ(clock.apply(reading(30 * kSecond)).realtime_ns,
            reading(30 * kSecond).realtime_ns + 35'100'000);
}

TEST(TestClock, ASlewLeavesTheRawClock) {
  const TestClock clock("slew_ppm=500@10");
  const ClockReading slewed = clock.apply(reading(20 * kSecond));
  EXPECT_EQ(slewed.before_ns, 20 * kSecond);
  EXPECT_EQ(slewed.monotonic_ns, 20 * kSecond + 5 * kMillisecond);
  EXPECT_EQ(slewed.realtime_ns, reading(20 * kSecond).realtime_ns + 5 * kMillisecond);
}

TEST(TestClock, ADriftIsNoStepOfTheClock) {
  const TestClock clock("offset_ms=40 drift_ppm=-80@0 step_ms=1@100");
  EXPECT_EQ(sets_of({clock.apply(reading(kSecond)), clock.apply(reading(90 * kSecond)),
                     clock.apply(reading(100 * kSecond))}),
            (std::vector<std::uint64_t>{0, 0, 1}));
}

TEST(TestClock, AnythingElseIsRefusedWithTheExpectedForm) {
  for (const char* const text : {"offset_ms", "offset_ms=x", "offset_ms=1@2", "drift_ppm=1",
                                 "step_ms=1@", "step_ms=1@-1", "step_ms=inf@1", "speed=1@2"}) {
    try {
      const TestClock clock(text);
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(std::string("'") + text + "' is unknown; expected"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
