// SPDX-License-Identifier: Apache-2.0
// The relative priorities of callbacks of the executors on one CPU.
#pragma once

#include <vector>

#include "bounds/holistic.hpp"

namespace rclrt::analysis::detail {

/// Returns, for each callback of the CPU, the SCHED_FIFO priority of the thread that runs it. An
/// executor with N levels has the N priorities below its top priority.
std::vector<int> thread_priorities(const CoreProblem& problem);

/// Returns, for each callback of the CPU, its group's ceiling: the highest thread priority in the
/// group. Without a group, it is the callback's own thread priority.
std::vector<int> thread_ceilings(const CoreProblem& problem, const std::vector<int>& priorities);

}  // namespace rclrt::analysis::detail
