// SPDX-License-Identifier: Apache-2.0
// The bounds of all chains in milliseconds.
#pragma once

#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis {

/// Returns one value per chain; -1 if there is no bound.
inline std::vector<double> bounds_ms(
    const model::Application& application,
    const model::ExecutorChoice& executor = ExecutorKind::kPreemptive,
    const Overheads& overheads = {}) {
  std::vector<double> result;
  for (const ChainBound& chain : chain_bounds(application, executor, overheads)) {
    result.push_back(chain.bound ? static_cast<double>(*chain.bound) / 1e6 : -1);
  }
  return result;
}

}  // namespace rclrt::analysis
