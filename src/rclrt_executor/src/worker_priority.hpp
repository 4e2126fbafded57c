// SPDX-License-Identifier: Apache-2.0
// The SCHED_FIFO priority of a worker: its own, or for a while the ceiling of a group.
#pragma once

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Belongs to one thread, which makes and uses it.
class WorkerPriority {
 public:
  /// `own` is what the thread has; 0: normal scheduling, and nothing is ever raised.
  explicit WorkerPriority(int own) noexcept : own_(own), now_(own) {}

  /// One system call if `ceiling` is above what the thread has, none otherwise. Ends the process
  /// when the kernel refuses: going on would break the bound on blocking.
  void raise_to(int ceiling) noexcept RCLRT_WAITS {
    if (own_ != 0 && ceiling > now_) {
      set(ceiling);
    }
  }
  void restore() noexcept RCLRT_WAITS {
    if (now_ != own_) {
      set(own_);
    }
  }

 private:
  void set(int priority) noexcept RCLRT_WAITS;

  const int own_;
  int now_;
};

}  // namespace rclrt::executor
