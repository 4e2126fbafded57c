// SPDX-License-Identifier: Apache-2.0
// The relative priorities of callbacks of the executors on one CPU.
#pragma once

#include <vector>

#include "bounds/holistic.hpp"

namespace rclrt::analysis::detail {

/// Returns for each callback of the core the SCHED_FIFO priority of its thread: an executor with N
/// levels has the N priorities below its top priority.
std::vector<int> thread_priorities(const CoreProblem& problem);

/// Returns for each callback of the core the highest thread priority in its group; its own if it
/// has no group.
std::vector<int> thread_ceilings(const CoreProblem& problem, const std::vector<int>& priorities);

}  // namespace rclrt::analysis::detail
