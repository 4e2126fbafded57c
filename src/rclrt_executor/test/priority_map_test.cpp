// SPDX-License-Identifier: Apache-2.0
#include "priority_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>

namespace rclrt::executor {
namespace {

using testing::ThrowsMessage;

TEST(PriorityMap, GivesNLevelsTheNPrioritiesBelowTheTop) {
  // Thesis, section 5.1.3, footnote 1: scheduler at 99, N levels in [99 - N, 99).
  const PriorityMap map({7, -3, 1000, 7}, 99);
  EXPECT_EQ(map.levels(), (std::vector<int>{-3, 7, 1000}));
  EXPECT_EQ(map.kernel_priority(1000), 98);
  EXPECT_EQ(map.kernel_priority(7), 97);
  EXPECT_EQ(map.kernel_priority(-3), 96);
}

TEST(PriorityMap, FitsExactlyAsManyLevelsAsThereArePriorities) {
  std::vector<int> levels(94);
  std::iota(levels.begin(), levels.end(), 0);
  EXPECT_EQ(PriorityMap(levels, 95).kernel_priority(0), 1);
  levels.push_back(94);
  try {
    const PriorityMap map(levels, 95);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "95 priority levels do not fit into the 94 SCHED_FIFO priorities below 95: use fewer "
              "distinct priorities (rclrt synthesize APP --levels 94 merges some) or raise "
              "top_priority");
  }
}

TEST(PriorityMap, RefusesATopOutsideTheRangeOfSchedFifo) {
  EXPECT_THAT([&] { PriorityMap({1}, 100); },
              ThrowsMessage<std::invalid_argument>("top_priority must be from 2 to 99, not 100"));
  EXPECT_THAT([&] { PriorityMap({1}, 1); },
              ThrowsMessage<std::invalid_argument>("top_priority must be from 2 to 99, not 1"));
}

}  // namespace
}  // namespace rclrt::executor
