// SPDX-License-Identifier: Apache-2.0
// A thread for each callback group, at a priority of its own.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs each group on a thread of its own, in order of release, at the priority of its most urgent
/// callback; a callback without a group is a group by itself. This is the structure that is
/// otherwise built by hand from one SingleThreadedExecutor for each callback group, as in
/// callback_isolated_executor: Ishikawa-Aso et al., "Work in progress: Middleware-transparent
/// callback enforcement in commoditized component-oriented real-time systems", RTAS 2025. Only the
/// kernel schedules the threads: among threads of one priority, a thread goes on while its queue
/// has work. Members of a reentrant group do not overlap either, unless one waits: then a spare
/// thread runs the next (ExecutorOptions::spare_workers). The highest priorities of the groups take
/// the SCHED_FIFO priorities below `top_priority`, and without real time the kernel shares the CPUs
/// among the threads, as with Preemption::kAlways.
///
/// When the last callback of a group is removed, its thread is kept for the next group.
class RCLRT_EXECUTOR_EXPORT PerGroupExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument if `options` has Preemption::kNever or
  /// more than one worker (`workers_per_level`).
  RCLRT_SETUP explicit PerGroupExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
