// SPDX-License-Identifier: Apache-2.0
// The thesis's thread-dispatch model (section 5.1.3).
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// A scheduler thread above all levels starts a new thread for each instance, at the callback's
/// priority; the thread ends after the instance. Creating a thread allocates memory and takes tens
/// of microseconds, so this executor allocates also after `prepare`. If the system refuses to
/// create a thread, `spin` ends with that error. Without real-time scheduling, permanent workers
/// each take the most urgent instance; see Preemption.
class RCLRT_EXECUTOR_EXPORT ThreadDispatchExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit ThreadDispatchExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
