// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/compress_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "application_builder.hpp"

namespace rclrt::analysis {
namespace {

using Priorities = std::vector<int>;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Four timers with the priorities 40, 30, 20 and 10. The cost of a merge is the WCET of the lower
/// level divided by the deadline of the upper one: 5 / 10, 1 / 50, 4 / 100.
model::Application four_levels() {
  return Builder()
      .timer("a", 10, 1)
      .timer("b", 50, 5)
      .timer("c", 100, 1)
      .timer("d", 200, 4)
      .chain("a", {"a"}, 40)
      .chain("b", {"b"}, 30)
      .chain("c", {"c"}, 20)
      .chain("d", {"d"}, 10)
      .done();
}

TEST(CompressLevels, LeavesWhatFits) {
  const auto result = compress_levels(four_levels(), {40, 30, 20, 10}, 4);
  EXPECT_EQ(result.priorities, (Priorities{40, 30, 20, 10}));
  EXPECT_TRUE(result.merged.empty());
}

TEST(CompressLevels, MergesTheNeighboursThatCostLeastIntoTheMoreUrgent) {
  auto result = compress_levels(four_levels(), {40, 30, 20, 10}, 3);
  EXPECT_EQ(result.priorities, (Priorities{40, 30, 30, 10}));  // 1 / 50 is the least
  EXPECT_EQ(result.merged, (std::vector<LevelMerge>{{0, 20, 30}}));
  // Now (5 + 1) / 10 against 4 / 50 + 4 / 100.
  result = compress_levels(four_levels(), {40, 30, 20, 10}, 2);
  EXPECT_EQ(result.priorities, (Priorities{40, 30, 30, 30}));
  EXPECT_EQ(result.merged, (std::vector<LevelMerge>{{0, 20, 30}, {0, 10, 30}}));
  EXPECT_EQ(compress_levels(four_levels(), {40, 30, 20, 10}, 1).priorities,
            (Priorities{40, 40, 40, 40}));
}

TEST(CompressLevels, CountsTheLevelsOfEachExecutorAlone) {
  auto application = four_levels();
  application.executors.push_back({.name = "second", .cpus = {1}});
  application.nodes.push_back({.name = "other", .name_space = "/", .executor = 1});
  application.callbacks[1].node = application.callbacks[3].node = 1;
  EXPECT_TRUE(compress_levels(application, {40, 30, 20, 10}, 2).merged.empty());
  const auto result = compress_levels(application, {40, 30, 20, 10}, 1);
  EXPECT_EQ(result.priorities, (Priorities{40, 30, 40, 30}));
  // The same when the callbacks name the executor themselves.
  for (const std::size_t callback : {1, 3}) {
    application.callbacks[callback].node = 0;
    application.callbacks[callback].executor = 1;
  }
  EXPECT_EQ(compress_levels(application, {40, 30, 20, 10}, 1).priorities, result.priorities);
}

TEST(CompressLevels, NeverLowersAPriorityNorSwapsTwo) {
  Builder builder;
  Priorities priorities;
  for (int i = 0; i < 300; ++i) {
    const std::string id = "t" + std::to_string(i);
    builder.timer(id, 100 + i * 7 % 400, 0.01 * (i * 13 % 29));
    if (i % 3 != 0) {
      builder.chain(id, {id}, i * 31 % 97);
    }
    priorities.push_back(i * 37 % 251);
  }
  const auto result = compress_levels(builder.done(), priorities, kMappableLevels);
  const std::set<int> distinct(result.priorities.begin(), result.priorities.end());
  EXPECT_EQ(distinct.size(), kMappableLevels);
  for (std::size_t i = 0; i < priorities.size(); ++i) {
    EXPECT_GE(result.priorities[i], priorities[i]);
    for (std::size_t k = 0; k < i; ++k) {
      if (priorities[i] > priorities[k]) {
        EXPECT_GE(result.priorities[i], result.priorities[k]);
      }
      if (priorities[i] == priorities[k]) {
        EXPECT_EQ(result.priorities[i], result.priorities[k]);
      }
    }
  }
  EXPECT_EQ(compress_levels(builder.done(), result.priorities, kMappableLevels).priorities,
            result.priorities);
}

TEST(CompressLevels, NoLevelAtAllIsRefused) {
  EXPECT_THAT([&] { compress_levels(four_levels(), {1, 1, 1, 1}, 0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("callbacks need at least one")));
}

}  // namespace
}  // namespace rclrt::analysis
