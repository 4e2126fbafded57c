// SPDX-License-Identifier: Apache-2.0
// Which callbacks of the executors on one CPU are more urgent than others.
#pragma once

#include <vector>

#include "holistic.hpp"

namespace rclrt::analysis::detail {

/// Returns for each callback of the core the SCHED_FIFO priority of its thread: the N priorities of
/// an executor are the N below its top priority.
std::vector<int> thread_priorities(const CoreProblem& problem);

/// Returns for each callback of the core the highest of the thread priorities in its group; its own
/// without a group.
std::vector<int> thread_ceilings(const CoreProblem& problem, const std::vector<int>& priorities);

}  // namespace rclrt::analysis::detail
