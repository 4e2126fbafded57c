// SPDX-License-Identifier: Apache-2.0
// The SCHED_FIFO priority of a worker: its level's, or for a while the ceiling of a group.
#pragma once

#include <atomic>
#include <mutex>

#include "pi_lock.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

/// The worker alone raises itself to a ceiling and comes back from there; the configuration moves
/// the priority of its level meanwhile.
///
/// Invariant, whenever `mutex_` is free: the kernel has `now_` for the thread, which is the ceiling
/// while `is_raised_` and `own_` otherwise. A priority is looked at and changed under one lock, so
/// a level that moves never lowers a worker inside a group, and no worker compares a ceiling with a
/// priority that it has no more. `mutex_` has priority inheritance and is held for one system call;
/// it is not taken by a worker that has nothing to change.
///
/// `raise_to` reads `own_` without it, after its caller has read the ceiling: the configuration
/// writes the two the other way round (seq_cst), so whoever sees the new ceiling sees the new
/// level. PAIRS WITH: CallbackSet::settle_levels. By levels that come and go no ceiling gets from
/// below to above a level, so the outcome stays right if the level moves in between.
class WorkerPriority {
 public:
  /// `own` is what the thread has. Without real time (0) it is never raised, unless it
  /// `may_be_raised` from best effort.
  explicit WorkerPriority(int own, bool may_be_raised = false) noexcept
      : own_(own), now_(own), may_be_raised_(own != 0 || may_be_raised) {}
  /// For a thread that is never raised.
  WorkerPriority() noexcept : WorkerPriority(0) {}
  WorkerPriority(const WorkerPriority&) = delete;
  WorkerPriority& operator=(const WorkerPriority&) = delete;

  // The worker:

  /// One system call if `ceiling` is above the level, none otherwise; `restore` follows. Ends the
  /// process when the kernel refuses: going on would break the bound on blocking.
  void raise_to(int ceiling) noexcept RCLRT_WAITS {
    if (may_be_raised_ && ceiling > own_.load()) {
      raise(ceiling);
    }
  }
  /// Ends what `raise_to` began.
  void restore() noexcept RCLRT_WAITS {
    if (is_raised_) {
      lower();
    }
  }
  /// Takes on the priority of another level, for threads that no configuration moves. Two system
  /// calls if it is below what the thread has: the thread goes behind those that have that priority
  /// already, where the kernel puts one that is lowered before them.
  void adopt(int own) noexcept RCLRT_WAITS;
  /// What the thread has now; 0: none.
  int now() const noexcept RCLRT_NONBLOCKING { return now_.load(std::memory_order_relaxed); }

  // The configuration:

  /// Moves the level's priority: the thread has it at once or, if it is raised, when it comes back.
  /// Throws std::system_error; the next call tries again.
  RCLRT_SETUP void move_to(int own, realtime::Thread& thread);

 private:
  void raise(int ceiling) noexcept RCLRT_WAITS;
  void lower() noexcept RCLRT_WAITS;
  void set(int priority) noexcept RCLRT_WAITS;

  PiLock mutex_;  // guards changes of what follows
  std::atomic<int> own_;
  std::atomic<int> now_;    // read by its thread without the lock, relaxed: a record's rank
  bool is_raised_ = false;  // written by its thread, which reads it without the lock
  const bool may_be_raised_;
};

}  // namespace rclrt::executor
