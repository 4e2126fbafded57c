// SPDX-License-Identifier: Apache-2.0
// The thesis's producer-consumer model (section 5.1.4).
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// A scheduler thread above all levels releases the timers and sorts all ready instances into one
/// queue for each level. Consumer threads at the level's priority run them: one thread for each
/// level as in the thesis that describes this executor, or `workers_per_level`. No lock is held
/// while user code runs. Without real-time scheduling all levels share one queue and its consumers;
/// see Preemption.
class RCLRT_EXECUTOR_EXPORT ProducerConsumerExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit ProducerConsumerExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
