// SPDX-License-Identifier: Apache-2.0
// A thread for each callback group, at a priority of its own.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs each callback group on a thread of its own. A callback without a group is a group by
/// itself. The thread runs the instances of its group in order of release, at the priority of the
/// group's most urgent callback. In rclcpp this is built by hand from one SingleThreadedExecutor
/// for each callback group, or with callback_isolated_executor: Ishikawa-Aso et al., "Work in
/// progress: Middleware-transparent callback enforcement in commoditized component-oriented
/// real-time systems", RTAS 2025.
///
/// Only the kernel schedules the threads: among threads of one priority, a thread continues while
/// its queue has work. Members of a reentrant group do not overlap either, unless one of them
/// waits: a spare thread then runs the next one (ExecutorOptions::spare_workers). The priorities of
/// the groups are mapped to the SCHED_FIFO priorities below `top_priority`. Without real-time
/// scheduling the kernel shares the CPUs among the threads, as with Preemption::kAlways.
///
/// When the last callback of a group is removed, its thread is kept for the next group.
class RCLRT_EXECUTOR_EXPORT PerGroupExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument if `options` has Preemption::kNever or
  /// more than one worker (`workers_per_level`).
  RCLRT_SETUP explicit PerGroupExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
