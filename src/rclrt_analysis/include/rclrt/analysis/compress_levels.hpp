// SPDX-License-Identifier: Apache-2.0
// Fewer distinct priorities, in the same order: SCHED_FIFO has 99, synthesis may give any number.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The number of levels that an executor can map: the SCHED_FIFO priorities below its scheduler
/// threads at 95.
inline constexpr std::size_t kMappableLevels = 94;

/// A merge of levels: callbacks of one executor with the priority `from` got `into`, which is
/// higher.
struct LevelMerge {
  std::size_t executor{};
  int from{};
  int into{};
  bool operator==(const LevelMerge&) const = default;
};

/// Priorities on fewer levels, and the merges that led there.
struct CompressedLevels {
  std::vector<int> priorities;     ///< one per callback
  std::vector<LevelMerge> merged;  ///< by executor, the most urgent first
};

/// Merges neighbouring levels of an executor until it has at most `most` of them. A merge raises
/// the less urgent callbacks, so no priority becomes lower and no two change their order. The
/// cheapest pair of neighbours is merged first. The cost of a pair is the sum of WCETs of the less
/// urgent level, which may then delay the more urgent one, divided by the shortest deadline of the
/// chains on the more urgent level; it is summed over the levels that were merged into that one
/// before. This is a heuristic: check the chain bounds afterwards. `priorities` has one entry per
/// callback. Pure; any thread. Throws std::invalid_argument when `most` is 0.
RCLRT_ANALYSIS_EXPORT CompressedLevels compress_levels(const model::Application& application,
                                                       const std::vector<int>& priorities,
                                                       std::size_t most);

}  // namespace rclrt::analysis
