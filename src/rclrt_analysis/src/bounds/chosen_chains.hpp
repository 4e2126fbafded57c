// SPDX-License-Identifier: Apache-2.0
// Bounds of some chains of an application. The others cost no time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis::detail {

/// Returns the same as chain_bounds() for these chains, given by their indices. Sets `gave_up` if a
/// search for a bound of an executor that runs alone has ended with its steps.
std::vector<ChainBound> bounds_of_chains(const model::Application& application,
                                         const model::ExecutorChoice& executor,
                                         const Overheads& overheads, Effort effort,
                                         std::span<const std::size_t> chains, bool& gave_up);

}  // namespace rclrt::analysis::detail
