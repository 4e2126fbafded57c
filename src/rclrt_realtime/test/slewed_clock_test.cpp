// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/slewed_clock.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rclrt::realtime {
namespace {

struct Reading {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
};

/// Returns how many readings were made, and how long the one that was taken lasts.
std::vector<std::int64_t> taken_of(const std::vector<std::int64_t>& times_ns) {
  std::size_t next = 0;
  const Reading best = least_interrupted([&] { return Reading{0, times_ns.at(next++)}; });
  return {static_cast<std::int64_t>(next), best.after_ns};
}

TEST(LeastInterrupted, ReadsAgainUntilAReadingWasShort) {
  EXPECT_EQ(taken_of({2'000}), (std::vector<std::int64_t>{1, 2'000}));
  EXPECT_EQ(taken_of({9'000, 2'001, 500}), (std::vector<std::int64_t>{3, 500}));
}

TEST(LeastInterrupted, TakesTheShortestOfEight) {
  EXPECT_EQ(taken_of({9'000, 8'000, 3'000, 7'000, 9'000, 9'000, 9'000, 9'000}),
            (std::vector<std::int64_t>{8, 3'000}));
}

TEST(OffsetOfSlewed, AddsTheClocksOfBothHostsToTheOffsetOfTheRawOnes) {
  const OffsetInterval offset = offset_of_slewed({100, 120}, {1'000, 1'005}, {300, 302}, 0, 0);
  EXPECT_EQ(offset.low_ns, 100 + 1'000 - 302);
  EXPECT_EQ(offset.high_ns, 120 + 1'005 - 300);
}

// 1 ppm may be 2 ppm from then on: 2 us in 0.9 s and the 0.1 s of an answer.
TEST(OffsetOfSlewed, GrowsByASlewThatGoesOn) {
  const OffsetInterval offset = offset_of_slewed({0, 0}, {0, 0}, {0, 0}, 1e-6, 900'000'000);
  EXPECT_EQ(offset.low_ns, -2'000);
  EXPECT_EQ(offset.high_ns, 2'000);
}

TEST(OffsetOfSlewed, IsBoundedForTimesThatNoClockShows) {
  const std::int64_t most = std::int64_t{1} << 62;
  const OffsetInterval offset = offset_of_slewed({-most, most}, {-most, most}, {-most, most}, 0, 0);
  EXPECT_EQ(offset.low_ns, -most);
  EXPECT_EQ(offset.high_ns, most);
}

}  // namespace
}  // namespace rclrt::realtime
