// SPDX-License-Identifier: Apache-2.0
// The thesis's producer-consumer model (section 5.1.4).
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// A scheduler thread above all levels sorts ready work into one queue per level; consumer threads
/// at the level's priority run it: one per level as in the thesis, or `workers_per_level`.
/// Timers are released by the scheduler thread. No lock is held while user code runs. Without real
/// time all levels share one queue and its consumers; see Preemption.
class RCLRT_EXECUTOR_EXPORT ProducerConsumerExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit ProducerConsumerExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
