// SPDX-License-Identifier: Apache-2.0
// Where instances go when they are ready.
#pragma once

#include "rclrt/executor/detail/instance.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor::detail {

/// Takes instances that became ready: a lane, a scheduler thread's inbox, or a class of deadlines.
class RCLRT_EXECUTOR_EXPORT ReadySink {
 public:
  virtual ~ReadySink() = default;
  /// Takes over an instance that is ready. Thread-safe.
  virtual void submit(Instance* instance) noexcept RCLRT_NONBLOCKING = 0;
  /// Puts an instance that had to wait for its group back to its old place. Thread-safe.
  virtual void resume(Instance* instance) noexcept RCLRT_WAITS = 0;
};

}  // namespace rclrt::executor::detail
