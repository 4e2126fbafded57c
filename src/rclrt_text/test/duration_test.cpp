// SPDX-License-Identifier: Apache-2.0
#include "rclrt/text/duration.hpp"

#include <gtest/gtest.h>

namespace rclrt::text {
namespace {

TEST(DurationText, HasTheUnitInWhichItIsShort) {
  EXPECT_EQ(duration_text(0), "0 ms");
  EXPECT_EQ(duration_text(1), "1 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(2'500), "2.5 µs");
  EXPECT_EQ(duration_text(10'000'000), "10 ms");
  EXPECT_EQ(duration_text(9'999'000'000), "9999 ms");
  EXPECT_EQ(duration_text(666'667'000'000), "666.667 s");
  EXPECT_EQ(duration_text(-2'500), "-2.5 µs");
}

TEST(DurationText, RoundsOnlyFractionsAndOnlyOnRequest) {
  EXPECT_EQ(duration_text(25'300'001), "25.300001 ms");
  EXPECT_EQ(duration_text(25'300'001, 3), "25.3 ms");
  EXPECT_EQ(duration_text(1'234'500'000, 3), "1234 ms");
  EXPECT_EQ(duration_text(120'499, 3), "120 µs");
  EXPECT_EQ(duration_text(666'667'000'000, 3), "667 s");
}

}  // namespace
}  // namespace rclrt::text
