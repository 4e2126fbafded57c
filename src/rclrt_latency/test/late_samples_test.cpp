// SPDX-License-Identifier: Apache-2.0
#include "late_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace rclrt::latency {
namespace {

using recorder::HostStall;
using recorder::StallTimeline;

TEST(LateSamples, AreDisturbedByAStallBetweenTheirTimeAndTheirWakeUp) {
  LateSamples late;
  late.add({.due_ns = 1000, .late_ns = 50});
  late.add({.due_ns = 2000, .late_ns = 500});
  late.add({.due_ns = 3000, .late_ns = 50});
  const std::vector<HostStall> stalls{{.cpu = 0, .start_ns = 2100, .end_ns = 2400},
                                      {.cpu = 0, .start_ns = 3060, .end_ns = 3100}};
  const auto disturbed = late.disturbed(StallTimeline(stalls, std::nullopt));
  ASSERT_EQ(disturbed.size(), 1U);
  EXPECT_EQ(disturbed[0].due_ns, 2000);
}

TEST(LateSamples, KeepTheLatestWhenThereAreTooMany) {
  LateSamples late(100);
  for (std::int64_t i = 0; i < 10'000; ++i) {
    late.add({.due_ns = i, .late_ns = (i * 7919) % 10'000});  // each from 0 to 9999 once
  }
  EXPECT_LE(late.samples().size(), 100U);
  // All above the floor are there, and so many that the floor is no higher than it must be.
  EXPECT_EQ(late.samples().size(), static_cast<std::size_t>(10'000 - late.floor_ns()));
  EXPECT_GE(late.samples().size(), 25U);
}

TEST(LateSamples, StayBoundedWhenAllAreEqual) {
  LateSamples late(10);
  for (std::int64_t i = 0; i < 1000; ++i) {
    late.add({.due_ns = i, .late_ns = 5});
  }
  EXPECT_LE(late.samples().size(), 10U);
  EXPECT_EQ(late.floor_ns(), 6);
}

}  // namespace
}  // namespace rclrt::latency
