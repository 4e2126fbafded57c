// SPDX-License-Identifier: Apache-2.0
// Audsley's algorithm over the chains of an application.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "rclrt/analysis/bound_priorities.hpp"

namespace rclrt::analysis::detail {

/// Priorities of chains, from 1 up.
struct ChainLevels {
  std::vector<int> level;    ///< of each chain
  std::vector<PlacedBy> by;  ///< the same
  bool complete = true;      ///< false: some chains have deadline monotonic priorities above others
};

/// Assigns priorities from the lowest up. See bound_priorities().
///
/// `hold`: for chains with these levels, returns for each of the chains asked for whether its
/// deadline holds. `may_go_on`: whether `hold` may be called again.
ChainLevels audsley(const model::Application& application,
                    const std::function<std::vector<bool>(const std::vector<int>& levels,
                                                          std::span<const std::size_t>)>& hold,
                    const std::function<bool()>& may_go_on);

}  // namespace rclrt::analysis::detail
