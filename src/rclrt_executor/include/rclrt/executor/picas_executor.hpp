// SPDX-License-Identifier: Apache-2.0
// PiCAS: the most urgent callback runs next, and to its end.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs one callback at a time: the ready callback with the highest priority; at equal priority, in
/// order of release. A started callback is never preempted by another one of this executor. Choi,
/// Xiang and Kim, "PiCAS: New design of priority-driven chain-aware scheduling for ROS2", RTAS
/// 2021.
///
/// Use one executor for each CPU, with `cpus`. If several executors share a CPU, their
/// `top_priority` decides which one preempts: the thread of an executor runs at the priority right
/// below it. The class is PreemptiveExecutor with Preemption::kNever and one worker. If
/// `workers_per_level` states more workers, they share one queue.
class RCLRT_EXECUTOR_EXPORT PicasExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways.
  RCLRT_SETUP explicit PicasExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
