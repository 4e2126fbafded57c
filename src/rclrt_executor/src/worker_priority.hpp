// SPDX-License-Identifier: Apache-2.0
// The SCHED_FIFO priority of a worker: its level's, or for a while the ceiling of a group.
#pragma once

#include <atomic>
#include <mutex>

#include "pi_lock.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

/// The kernel priority of a worker thread. Only the worker itself raises it to a ceiling and
/// restores it. The thread that configures the executor may meanwhile change the priority of the
/// worker's level.
///
/// Invariant, whenever `mutex_` is free: the kernel has the priority `now_` for the thread, which
/// is the ceiling while `is_raised_` is true, and `own_` otherwise. A priority is read and changed
/// under one lock. So a change of the level never lowers a worker inside a group, and no worker
/// compares a ceiling with an outdated priority. `mutex_` has priority inheritance and is held for
/// one system call. A worker that has nothing to change does not take it.
///
/// `raise_to` reads `own_` without the lock, after its caller has read the ceiling. The configuring
/// thread writes the two in the opposite order (seq_cst), so a worker that sees the new ceiling
/// sees the new level. PAIRS WITH: CallbackSet::update_levels. Adding and removing levels never
/// moves a ceiling from below to above a level, so the result stays correct if the level changes in
/// between.
class WorkerPriority {
 public:
  /// `own` is the SCHED_FIFO priority of the thread; 0: normal scheduling. Such a thread is never
  /// raised, unless `may_be_raised` is true (a thread of a best-effort level).
  explicit WorkerPriority(int own, bool may_be_raised = false) noexcept
      : own_(own), now_(own), may_be_raised_(own != 0 || may_be_raised) {}
  /// For a thread that is never raised.
  WorkerPriority() noexcept : WorkerPriority(0) {}
  WorkerPriority(const WorkerPriority&) = delete;
  WorkerPriority& operator=(const WorkerPriority&) = delete;

  // Called by the worker:

  /// Raises the thread to `ceiling` with one system call if `ceiling` is above its own priority.
  /// Does nothing otherwise. A call of `restore` must follow. Ends the process if the kernel
  /// refuses, because the bound on blocking would not hold any more.
  void raise_to(int ceiling) noexcept RCLRT_WAITS {
    if (may_be_raised_ && ceiling > own_.load()) {
      raise(ceiling);
    }
  }
  /// Restores the priority of the level after `raise_to`.
  void restore() noexcept RCLRT_WAITS {
    if (is_raised_) {
      lower();
    }
  }
  /// Changes the thread's priority to that of another level, for threads that change between
  /// levels. If the new priority is lower, this takes two system calls: the kernel puts a lowered
  /// thread in front of the threads that already have that priority, but it must go behind them.
  void adopt(int own) noexcept RCLRT_WAITS;
  /// Returns the current priority of the thread; 0: none.
  int now() const noexcept RCLRT_NONBLOCKING { return now_.load(std::memory_order_relaxed); }

  // Called by the configuration:

  /// Changes the thread's own priority to `own`. The kernel gets the new priority at once or, if
  /// the thread is raised, at `restore`. Throws std::system_error; call it again to try again.
  RCLRT_SETUP void move_to(int own, realtime::Thread& thread);

 private:
  void raise(int ceiling) noexcept RCLRT_WAITS;
  void lower() noexcept RCLRT_WAITS;
  void set(int priority) noexcept RCLRT_WAITS;

  PiLock mutex_;  // guards changes of the following
  std::atomic<int> own_;
  std::atomic<int> now_;    // read by its thread without the lock, relaxed: a record's priority
  bool is_raised_ = false;  // written by its thread, which reads it without the lock
  const bool may_be_raised_;
};

}  // namespace rclrt::executor
