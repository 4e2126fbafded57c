// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/tick_clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace rclrt::realtime {
namespace {

/// A converter with only the samples that the test adds, with a counter of 3 ticks per nanosecond.
class TickConverterOfKnownSamples : public testing::Test {
 protected:
  void SetUp() override {
    converter_.add({.ticks = 0, .monotonic_ns = kLater});  // ticks went back: history begins here
    converter_.add({.ticks = 3'000, .monotonic_ns = kLater + 1'000, .error_ns = 7});
  }

  static constexpr std::int64_t kLater = INT64_MAX / 2;
  TickConverter converter_{TickClock(TickClock::Source::kMonotonic)};
};

TEST_F(TickConverterOfKnownSamples, InterpolatesBetweenThem) {
  EXPECT_EQ(converter_.to_monotonic_ns(0), kLater);
  EXPECT_EQ(converter_.to_monotonic_ns(1'500), kLater + 500);
  EXPECT_EQ(converter_.to_monotonic_ns(3'000), kLater + 1'000);
}

TEST_F(TickConverterOfKnownSamples, FollowsAClockThatIsSlewed) {
  converter_.add({.ticks = 6'000, .monotonic_ns = kLater + 2'200});  // faster from here on
  EXPECT_EQ(converter_.to_monotonic_ns(1'500), kLater + 500);
  EXPECT_EQ(converter_.to_monotonic_ns(4'500), kLater + 1'600);
}

TEST_F(TickConverterOfKnownSamples, ProlongsTheNearestTwoBeyondThem) {
  EXPECT_EQ(converter_.to_monotonic_ns(3'300), kLater + 1'100);
  converter_.add({.ticks = 9'000, .monotonic_ns = kLater + 3'000});
  EXPECT_EQ(converter_.to_monotonic_ns(9'030), kLater + 3'010);
}

TEST_F(TickConverterOfKnownSamples, StatesTheLargestErrorOfItsSamples) {
  EXPECT_EQ(converter_.error_ns(), 7);
  converter_.add({.ticks = 6'000, .monotonic_ns = kLater + 2'000, .error_ns = 1'000'000'000});
  EXPECT_EQ(converter_.error_ns(), 1'000'000'000);
}

TEST_F(TickConverterOfKnownSamples, LeavesOutASampleThatIsNotLater) {
  converter_.add({.ticks = 6'000, .monotonic_ns = kLater + 1'000});
  EXPECT_EQ(converter_.to_monotonic_ns(1'500), kLater + 500);
}

TEST_F(TickConverterOfKnownSamples, BeginsAnewWhenTheCounterWentBack) {
  converter_.add({.ticks = 100, .monotonic_ns = kLater + 2'000});
  converter_.add({.ticks = 1'300, .monotonic_ns = kLater + 2'400});
  EXPECT_EQ(converter_.to_monotonic_ns(700), kLater + 2'200);
}

TEST_F(TickConverterOfKnownSamples, KeepsOldTicksExactAfterItForgotTheirSamples) {
  for (std::uint64_t i = 2; i < 5'000; ++i) {
    converter_.add({.ticks = i * 3'000, .monotonic_ns = kLater + static_cast<int>(i) * 1'000});
  }
  EXPECT_EQ(converter_.to_monotonic_ns(1'500), kLater + 500);
  EXPECT_EQ(converter_.to_monotonic_ns(9'000'000), kLater + 3'000'000);
}

class EachTickSource : public testing::TestWithParam<TickClock::Source> {};

// The scheduler may preempt this thread anywhere: only the order of the reads is certain.
TEST_P(EachTickSource, ConvertsToTheTimeOfTheReadWithinItsStatedError) {
  const TickClock clock(GetParam());
  TickConverter converter(clock);
  struct Read {
    std::int64_t before_ns;
    std::uint64_t ticks;
    std::int64_t after_ns;
  };
  std::vector<Read> reads;
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t before_ns = monotonic_now_ns();
    const std::uint64_t ticks = clock.now();
    reads.push_back({before_ns, ticks, monotonic_now_ns()});
    if (i % 100 == 0) {
      converter.sample();
    }
  }
  converter.sample();
  const std::int64_t slew_ns = (reads.back().after_ns - reads.front().before_ns) / 2'000;
  const std::int64_t error_ns = converter.error_ns() + slew_ns + 1;
  std::int64_t last_ns = 0;
  for (const Read& read : reads) {
    const std::int64_t converted_ns = converter.to_monotonic_ns(read.ticks);
    EXPECT_GE(converted_ns, read.before_ns - error_ns);
    EXPECT_LE(converted_ns, read.after_ns + error_ns);
    EXPECT_GE(converted_ns, last_ns) << "conversion is monotone";
    last_ns = converted_ns;
  }
}

INSTANTIATE_TEST_SUITE_P(TickClock, EachTickSource,
                         testing::Values(TickClock::best().source(),
                                         TickClock::Source::kMonotonic));

}  // namespace
}  // namespace rclrt::realtime
