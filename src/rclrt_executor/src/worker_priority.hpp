// SPDX-License-Identifier: Apache-2.0
// The SCHED_FIFO priority of a worker: its own, or for a while the ceiling of a group.
#pragma once

#include <atomic>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Belongs to one thread, which makes and uses it.
class WorkerPriority {
 public:
  /// `own` is what the thread has, and may change while it runs (its level moved), but not to or
  /// from 0: neither SCHED_FIFO nor, unless `is_best_effort`, ever raised.
  explicit WorkerPriority(const std::atomic<int>& own, bool is_best_effort = false) noexcept
      : own_(own), now_(own.load()), is_raised_(now_ != 0 || is_best_effort) {}
  /// For a thread that is never raised.
  WorkerPriority() noexcept : WorkerPriority(kNone) {}

  /// One system call if `ceiling` is above what the thread has, none otherwise. Ends the process
  /// when the kernel refuses: going on would break the bound on blocking.
  void raise_to(int ceiling) noexcept RCLRT_WAITS {
    if (is_raised_ && ceiling > now_) {
      set(ceiling);
    }
  }
  /// Two system calls if `priority` is below what the thread has: the thread goes behind those that
  /// have that priority already, where the kernel puts one that is lowered before them.
  void lower_to(int priority) noexcept RCLRT_WAITS {
    if (now_ != 0 && priority < now_) {
      set(priority);
      yield();
    }
  }
  /// What the thread has now; 0: none.
  int now() const noexcept RCLRT_NONBLOCKING { return now_; }
  void restore() noexcept RCLRT_WAITS {
    if (const int own = own_.load(); now_ != own) {
      set(own);
    }
  }

 private:
  void set(int priority) noexcept RCLRT_WAITS;
  static void yield() noexcept RCLRT_WAITS;

  static inline const std::atomic<int> kNone{0};

  const std::atomic<int>& own_;
  int now_;
  const bool is_raised_;
};

}  // namespace rclrt::executor
