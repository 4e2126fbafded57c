// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/write_schedule.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace rclrt::recorder {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kSecond_ns = 1'000'000'000;

TEST(WriteSchedule, TheFirstWriteIsDueWhenItIsStated) {
  WriteSchedule schedule{seconds(1)};
  schedule.begin(12 * kSecond_ns);
  EXPECT_FALSE(schedule.is_due(12 * kSecond_ns - 1));
  EXPECT_TRUE(schedule.is_due(12 * kSecond_ns));
}

TEST(WriteSchedule, AQuickWriteIsFollowedByOneAfterTheStatedTime) {
  WriteSchedule schedule{seconds(2)};
  schedule.begin(0);
  schedule.wrote(5 * kSecond_ns, 5 * kSecond_ns + 1'000);
  EXPECT_FALSE(schedule.is_due(7 * kSecond_ns - 1));
  EXPECT_TRUE(schedule.is_due(7 * kSecond_ns));
}

TEST(WriteSchedule, ASlowWriteTakesTwoPercentOfTheTime) {
  WriteSchedule schedule{seconds(1)};
  schedule.begin(0);
  schedule.wrote(0, kSecond_ns / 10);
  EXPECT_FALSE(schedule.is_due(5 * kSecond_ns - 1));
  EXPECT_TRUE(schedule.is_due(5 * kSecond_ns));
}

}  // namespace
}  // namespace rclrt::recorder
