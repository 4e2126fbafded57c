// SPDX-License-Identifier: Apache-2.0
// The quality of an application with known bounds.
#pragma once

#include <vector>

#include "rclrt/analysis/assign.hpp"

namespace rclrt::analysis::detail {

/// Returns the same as quality(). `bounds`: the result of chain_bounds().
Quality quality_of(const model::Application& application, const model::ExecutorChoice& executor,
                   const Overheads& overheads, const std::vector<ChainBound>& bounds);

}  // namespace rclrt::analysis::detail
