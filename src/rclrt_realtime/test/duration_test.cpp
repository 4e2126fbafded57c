// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/duration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/logging.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/semaphore.hpp"
#include "rclrt/realtime/thread_watch.hpp"

namespace rclrt::realtime {
namespace {

using std::chrono::duration;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Returns the value of a parameter in nanoseconds for an argument.
constexpr std::int64_t parameter_ns(SaturatingNanoseconds value) { return value.count(); }

TEST(DurationParameters, HoldWhatFitsExactly) {
  EXPECT_EQ(parameter_ns(24h), 86'400'000'000'000);
  EXPECT_EQ(parameter_ns(-10ms), -10'000'000);
  EXPECT_EQ(parameter_ns({}), 0);
  EXPECT_EQ(parameter_ns(nanoseconds::max()), INT64_MAX);
  EXPECT_EQ(parameter_ns(nanoseconds::min()), INT64_MIN);
  // The last hours of the range, 292 years: 2 562 047 h are 9.2233692e18 ns.
  EXPECT_EQ(parameter_ns(hours(2'562'047)), 9'223'369'200'000'000'000);
}

TEST(DurationParameters, BeyondTheirRangeAreItsEndInEveryUnit) {
  EXPECT_EQ(parameter_ns(hours(2'562'048)), INT64_MAX);
  EXPECT_EQ(parameter_ns(hours(-2'562'048)), INT64_MIN);
  EXPECT_EQ(parameter_ns(hours(5'124'096)), INT64_MAX);  // 2^64 ns and 0.55 s
  EXPECT_EQ(parameter_ns(std::chrono::microseconds::max()), INT64_MAX);
  EXPECT_EQ(parameter_ns(milliseconds::max()), INT64_MAX);
  EXPECT_EQ(parameter_ns(std::chrono::seconds::max()), INT64_MAX);
  EXPECT_EQ(parameter_ns(std::chrono::minutes::min()), INT64_MIN);
  EXPECT_EQ(parameter_ns(hours::max()), INT64_MAX);
  EXPECT_EQ(parameter_ns(std::chrono::years::max()), INT64_MAX);
  EXPECT_EQ(parameter_ns(duration<std::uint64_t, std::milli>(UINT64_MAX)), INT64_MAX);
  EXPECT_EQ(parameter_ns(duration<std::uint8_t, std::ratio<60>>(255)), 15'300'000'000'000);
}

TEST(DurationParameters, OfFloatingPointAreRoundedToTheNearestNanosecond) {
  EXPECT_EQ(parameter_ns(duration<double>(0.1)), 100'000'000);
  EXPECT_EQ(parameter_ns(duration<double, std::milli>(0.29)), 290'000);
  EXPECT_EQ(parameter_ns(duration<float>(-2.5F)), -2'500'000'000);
  EXPECT_EQ(parameter_ns(duration<double>(1e300)), INT64_MAX);
  EXPECT_EQ(parameter_ns(duration<double>(-std::numeric_limits<double>::infinity())), INT64_MIN);
  EXPECT_THAT([&] { parameter_ns(duration<double>(std::numeric_limits<double>::quiet_NaN())); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a duration is not a number (NaN)")));
}

TEST(DurationParameters, TakeNoUnitThatWouldLoseDigits) {
  using Picoseconds = duration<std::int64_t, std::pico>;
  static_assert(!std::is_convertible_v<Picoseconds, SaturatingNanoseconds>);
  static_assert(!std::is_convertible_v<nanoseconds, SaturatingMilliseconds>);
  static_assert(!std::is_convertible_v<duration<double>, SaturatingMilliseconds>);
  static_assert(!std::is_convertible_v<int, SaturatingNanoseconds>);
  EXPECT_EQ(saturate_cast<nanoseconds>(Picoseconds(1'500)), 2ns);
  EXPECT_EQ(saturate_cast<nanoseconds>(Picoseconds(-1'499)), -1ns);
}

TEST(DurationParameters, AreDurationsThemselves) {
  constexpr SaturatingMilliseconds kPeriod = 2s;
  static_assert(kPeriod == 2s && kPeriod / 2 == 1s &&
                nanoseconds(kPeriod).count() == 2'000'000'000);
  EXPECT_EQ(SaturatingMilliseconds(hours::max()), milliseconds::max());
}

TEST(Deadlines, OfTimeoutsBeyondBothEndsAreNeverAndLongAgo) {
  EXPECT_EQ(to_deadline_ns(milliseconds::max()), kNever);
  EXPECT_EQ(to_deadline_ns(std::chrono::years::max()), kNever);
  EXPECT_EQ(to_deadline_ns(duration<double>(std::numeric_limits<double>::infinity())), kNever);
  EXPECT_LE(to_deadline_ns(hours::min()), monotonic_now_ns());
  EXPECT_GE(to_deadline_ns(hours::min()), 0);
  EXPECT_LE(to_deadline_ns(-1ms), monotonic_now_ns());
  EXPECT_GE(to_deadline_ns(duration<double, std::nano>(0.25)), 1);
  using Clock = std::chrono::steady_clock;
  EXPECT_EQ(to_deadline_ns(Clock::time_point::min()), 0);
  EXPECT_EQ(to_deadline_ns(std::chrono::time_point<Clock, hours>::min()), 0);
}

TEST(Deadlines, InThePastEndAWaitAtOnceHoweverFarTheyAre) {
  PiMutex mutex;
  EXPECT_TRUE(mutex.try_lock_for(hours::min()));
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_for(hours::max()));  // it is free
  mutex.unlock();
}

TEST(DurationOptions, OfBuildingBlocksSaturateToo) {
  EXPECT_EQ(LoggerOptions{.period = hours::max()}.period, milliseconds::max());
  EXPECT_EQ((ThreadWatchOptions{.plan = {}, .period = hours::max(), .on_news = {}}.period),
            milliseconds::max());
  EXPECT_EQ(ProcessOptions{.cpu_wake_up = hours::max()}.cpu_wake_up,
            std::chrono::microseconds::max());
  EXPECT_EQ((Reservation{.runtime = 1ms, .deadline = hours::max(), .period = hours::max()}.period),
            nanoseconds::max());
  LogRateLimit once(hours::max());
  EXPECT_TRUE(once.admit(1'000));
  EXPECT_FALSE(once.admit(INT64_MAX - 1));
}

TEST(Sums, OfTimesEndWhereTheClockEnds) {
  EXPECT_EQ(saturating_add(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturating_add(1, INT64_MAX), INT64_MAX);
  EXPECT_EQ(saturating_add(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(saturating_add(INT64_MAX, INT64_MIN), -1);
}

}  // namespace
}  // namespace rclrt::realtime
