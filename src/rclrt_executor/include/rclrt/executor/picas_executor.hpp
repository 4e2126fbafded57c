// SPDX-License-Identifier: Apache-2.0
// PiCAS: the most urgent callback runs next, and to its end.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs one callback after the other, each time the one with the highest priority that is ready;
/// of one priority, in order of release. What has started is finished. Use one executor for each
/// CPU, with `cpus`; where several share one, `top_priority` says which of them the kernel
/// prefers: their threads run at the priority below. Choi, Xiang and Kim, "PiCAS: New design of
/// priority-driven chain-aware scheduling for ROS2", RTAS 2021. It is PreemptiveExecutor with
/// Preemption::kNever and one worker; more, if `workers_per_level` states so, share the queue.
class RCLRT_EXECUTOR_EXPORT PicasExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways.
  RCLRT_SETUP explicit PicasExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
