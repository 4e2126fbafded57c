// SPDX-License-Identifier: Apache-2.0
// PiCAS: the most urgent callback runs next, and to its end.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs one callback after the other, each time the one with the highest priority that is ready;
/// at equal priority, in order of release. A started callback is never preempted by another one.
/// Use one executor for each CPU, with `cpus`. If several executors share a CPU, `top_priority`
/// decides among them: each thread runs at the priority right below it. Choi, Xiang and Kim,
/// "PiCAS: New design of priority-driven chain-aware scheduling for ROS2", RTAS 2021. It is
/// PreemptiveExecutor with Preemption::kNever and one worker. If `workers_per_level` states more
/// workers, they share the queue.
class RCLRT_EXECUTOR_EXPORT PicasExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways.
  RCLRT_SETUP explicit PicasExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
