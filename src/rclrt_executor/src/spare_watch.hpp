// SPDX-License-Identifier: Apache-2.0
// Finds the threads of a lane that wait in their callbacks, so that a spare may replace them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lane_worker.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Decides when a spare thread of a lane runs an instance in place of a worker. A callback that
/// waits for another one (for example for the response of a service in the same executor) occupies
/// its worker meanwhile. If all workers of a lane did so, no instance of the lane would run, not
/// even the one for which they wait. So a lane may have spare threads, of the same priority,
/// created with the workers.
///
/// As many instances run at the same time as workers of the lane may work. An instance does not
/// count if its thread has been asleep in the kernel for most of `kPatience_ns`; a spare then runs
/// the next instance in its place. A thread that runs, or is ready and preempted, counts. So a
/// spare never adds to the number of computing threads, except for a moment when a callback has
/// stopped waiting and continues.
///
/// At most one spare watches the workers: the one that has the token, which the lane's lock guards.
/// The other spares sleep until it takes an instance and passes on the token. A spare that has
/// ended an instance takes the token. The spare that watches sleeps while a worker of the lane is
/// free. An instance that becomes ready when no worker is free wakes it. It then checks every
/// `kPatience_ns` until no instance waits. So work on a busy lane costs at most one wake-up in that
/// time, and work on a lane with a free worker costs none.
class SpareWatch {
 public:
  static constexpr std::int64_t kPatience_ns = 2'000'000;

  /// Adds a thread that has not begun. Called with the lane's lock held.
  RCLRT_SETUP void add(LaneWorker& worker) noexcept;
  /// Removes all threads, which must have ended.
  RCLRT_SETUP void clear() noexcept;

  // With the lane's lock held:

  /// Gives the token (the right to watch) to `spare` if no other spare has it, or if `spare` has
  /// just ended an instance (`from_instance`).
  void take_token(const LaneWorker& spare, bool from_instance) noexcept RCLRT_NONBLOCKING {
    if (from_instance || watcher_ == nullptr) {
      watcher_ = &spare;
    }
  }
  bool has_token(const LaneWorker& spare) const noexcept RCLRT_NONBLOCKING {
    return watcher_ == &spare;
  }
  void give_token_away(const LaneWorker& spare) noexcept RCLRT_NONBLOCKING {
    if (watcher_ == &spare) {
      watcher_ = nullptr;
    }
  }
  /// Returns whether `limit` workers are busy: as many as may work at the same time.
  bool all_busy(std::size_t limit) const noexcept RCLRT_NONBLOCKING;
  /// Returns whether `limit` workers are busy, and fewer threads than that run.
  bool may_stand_in(std::size_t limit) const noexcept RCLRT_NONBLOCKING;
  /// Sets the time until which the spare that watches sleeps in `wakeup`.
  void set_until(std::int64_t until_ns) noexcept RCLRT_NONBLOCKING { until_ns_ = until_ns; }
  /// Returns whether the spare that watches would sleep for ever.
  bool sleeps_for_ever() const noexcept RCLRT_NONBLOCKING {
    return until_ns_ == realtime::EventCount::kForever;
  }

  /// Finds out which busy threads of the lane wait in their callbacks. Called without the lane's
  /// lock. Makes one system call for each thread, and two or three more to read the state of a
  /// thread that may wait.
  void check(const LaneWorker& self, std::int64_t now_ns) noexcept RCLRT_WAITS;

  void wake_all() noexcept RCLRT_NONBLOCKING {
    wakeup.notify_all();
    patience.notify_all();
    idle.notify_all();
  }

  realtime::EventCount wakeup;    // of the spare that watches: notified of ready instances
  realtime::EventCount patience;  // of the same spare between two checks; notified at the end only
  realtime::EventCount idle;      // of the other spares

 private:
  // Grows at its head, with the lane's lock held; seq_cst, because it is read without the lock.
  std::atomic<LaneWorker*> first_{nullptr};
  // Guarded by the lane's lock.
  const LaneWorker* watcher_ = nullptr;
  std::int64_t until_ns_ = realtime::EventCount::kForever;
};

}  // namespace rclrt::executor
