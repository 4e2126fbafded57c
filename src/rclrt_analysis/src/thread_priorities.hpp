// SPDX-License-Identifier: Apache-2.0
// Which callbacks of the executors on one CPU are more urgent than others.
#pragma once

#include <vector>

#include "holistic.hpp"

namespace rclrt::analysis::detail {

/// Returns for each callback of the core how its thread's priority compares with the others':
/// higher is more urgent. The N priorities of each executor are the N highest ones of SCHED_FIFO
/// that it may use; so executors that share a CPU compare by how many priorities of their own lie
/// above.
std::vector<int> thread_priorities(const CoreProblem& problem);

/// Returns for each callback of the core the highest of the thread priorities in its group; its own
/// without a group.
std::vector<int> thread_ceilings(const CoreProblem& problem, const std::vector<int>& priorities);

}  // namespace rclrt::analysis::detail
