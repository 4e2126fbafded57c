// SPDX-License-Identifier: Apache-2.0
// The thesis's thread-dispatch model (section 5.1.3).
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// A scheduler thread above all levels starts a one-off thread at the callback's priority for each
/// instance. Creating a thread allocates and takes tens of microseconds, so the steady state is not
/// free of allocation. When the system refuses a thread, `spin` ends with that error. Without real
/// time, permanent workers take the most urgent instance each; see Preemption.
class RCLRT_EXECUTOR_EXPORT ThreadDispatchExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit ThreadDispatchExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
