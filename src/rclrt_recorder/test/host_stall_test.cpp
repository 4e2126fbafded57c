// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/host_stall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "repeatable_random.hpp"

namespace rclrt::recorder {
namespace {

TEST(StallTimeline, LeavesOutWhatTheProbeWasReadyFor) {
  const std::vector<HostStall> stalls{
      {.cpu = 0, .start_ns = 10, .end_ns = 20, .waited_ns = 7},
      {.cpu = 0, .start_ns = 30, .end_ns = 80, .waited_ns = 50}};  // held back by the kernel
  EXPECT_EQ(StallTimeline(stalls, std::nullopt).stalled_ns(0, 100), 3);
}

TEST(StallTimeline, CountsThePartOfAStallInsideTheInterval) {
  const std::vector<HostStall> stalls{{.cpu = 0, .start_ns = 10, .end_ns = 20}};
  const StallTimeline timeline(stalls, std::nullopt);
  EXPECT_EQ(timeline.stalled_ns(0, 100), 10);
  EXPECT_EQ(timeline.stalled_ns(15, 100), 5);
  EXPECT_EQ(timeline.stalled_ns(0, 12), 2);
  EXPECT_EQ(timeline.stalled_ns(12, 15), 3);
  EXPECT_EQ(timeline.stalled_ns(0, 10), 0);
  EXPECT_EQ(timeline.stalled_ns(20, 30), 0);
}

TEST(StallTimeline, CountsATimeInWhichTwoCpusStallOnce) {
  const std::vector<HostStall> stalls{{.cpu = 0, .start_ns = 10, .end_ns = 20},
                                      {.cpu = 1, .start_ns = 15, .end_ns = 30}};
  EXPECT_EQ(StallTimeline(stalls, std::nullopt).stalled_ns(0, 100), 20);
}

TEST(StallTimeline, LeavesOutOtherCpus) {
  const std::vector<HostStall> stalls{{.cpu = 0, .start_ns = 10, .end_ns = 20},
                                      {.cpu = 1, .start_ns = 15, .end_ns = 30}};
  EXPECT_EQ(StallTimeline(stalls, std::set{1}).stalled_ns(0, 100), 15);
  EXPECT_EQ(StallTimeline(stalls, std::set{2}).stalled_ns(0, 100), 0);
}

TEST(StallTimeline, AgreesWithCountingEveryNanosecond) {
  std::mt19937 random = repeatable_random(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<HostStall> stalls(random() % 6);
    for (HostStall& stall : stalls) {
      stall.start_ns = random() % 50;
      stall.end_ns = stall.start_ns + static_cast<std::int64_t>(random() % 20);
    }
    const StallTimeline timeline(stalls, std::nullopt);
    const std::int64_t start_ns = random() % 60;
    const std::int64_t end_ns = start_ns + static_cast<std::int64_t>(random() % 30);
    std::int64_t expected_ns = 0;
    for (std::int64_t time = start_ns; time < end_ns; ++time) {
      expected_ns += std::any_of(stalls.begin(), stalls.end(), [&](const HostStall& stall) {
        return stall.start_ns <= time && time < stall.end_ns;
      });
    }
    EXPECT_EQ(timeline.stalled_ns(start_ns, end_ns), expected_ns);
  }
}

}  // namespace
}  // namespace rclrt::recorder
