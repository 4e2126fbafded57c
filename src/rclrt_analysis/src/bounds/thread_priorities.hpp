// SPDX-License-Identifier: Apache-2.0
// The relative priorities of callbacks of executors that share CPUs.
#pragma once

#include <vector>

#include "bounds/cores.hpp"
#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {

/// Returns, for each callback of these CPUs, the SCHED_FIFO priority of the thread that runs it. An
/// executor with N levels has the N priorities below its top priority, that of its scheduler
/// thread.
std::vector<int> thread_priorities(const Workload& workload, const Core& core);

/// Returns, for each callback of these CPUs, its group's ceiling: the highest thread priority in
/// the group. Without a group, it is the callback's own thread priority.
std::vector<int> thread_ceilings(const Workload& workload, const Core& core,
                                 const std::vector<int>& priorities);

/// Returns the SCHED_FIFO priority of the executor's scheduler thread.
int top_priority(const model::Executor& executor);

}  // namespace rclrt::analysis::detail
