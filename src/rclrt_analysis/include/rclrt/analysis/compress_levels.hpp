// SPDX-License-Identifier: Apache-2.0
// Fewer distinct priorities, in the same order: SCHED_FIFO has 99, synthesis may give any number.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/analysis/export.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis {

/// The number of different priorities that the callbacks of one executor can have: the SCHED_FIFO
/// priorities below its scheduler thread at 95.
inline constexpr std::size_t kMappableLevels = 94;

/// A merge of two priorities of an executor: all of its callbacks with the priority `from` got the
/// priority `into`, which is higher.
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

/// Merges neighbouring priorities of each executor until it has at most `most` different ones. A
/// merge raises the less urgent callbacks to the higher priority. So no priority becomes lower, and
/// no two callbacks change their order.
///
/// The cheapest pair of neighbours is merged first. The cost of a pair is the work of the less
/// urgent priority (the sum of its WCETs), which may then delay the more urgent one, divided by the
/// shortest deadline of the chains on the more urgent one. Costs of earlier merges into the same
/// priority add up. This is a heuristic: check the chain bounds afterwards.
///
/// `priorities` has one entry per callback. Pure; any thread. Throws std::invalid_argument when
/// `most` is 0.
RCLRT_ANALYSIS_EXPORT CompressedLevels compress_levels(const model::Application& application,
                                                       const std::vector<int>& priorities,
                                                       std::size_t most);

}  // namespace rclrt::analysis
