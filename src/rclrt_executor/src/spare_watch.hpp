// SPDX-License-Identifier: Apache-2.0
// Which of a lane's threads wait in their callbacks, so that a spare one may take their place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lane_worker.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// A callback that waits for another one (for the answer of a service in the same executor, say)
/// holds its worker meanwhile. If all workers of a lane do so, nothing of the lane would run, not
/// even what they wait for. So a lane may have spare threads, of the same priority, made with the
/// workers. As many instances run at a time as the lane has workers; one whose thread has been
/// asleep in the kernel for most of `kPatience_ns` does not count, and a spare runs the next in its
/// place. A thread that runs, or is ready and preempted, counts: a spare never adds to what
/// computes, but for the moment in which a callback goes on whose wait has ended.
///
/// At most one spare watches, which is a token guarded by the lane's lock; the others sleep until
/// it takes an instance and gives the token away. A spare that has ended an instance takes the
/// token. While a worker of the lane is free the one that watches sleeps. It is woken by what
/// becomes ready when none is, and then looks every `kPatience_ns` until nothing waits; so work
/// that comes onto a busy lane costs one wake-up in that time at most, and a lane with a free
/// worker none.
class SpareWatch {
 public:
  static constexpr std::int64_t kPatience_ns = 2'000'000;

  /// Lets a thread take part. With the lane's lock held; the thread has not begun.
  RCLRT_SETUP void add(LaneWorker& worker) noexcept;
  /// Forgets all threads, which have ended.
  RCLRT_SETUP void clear() noexcept;

  // With the lane's lock held:

  /// Gives the token to the spare if no other one has it, or if it comes from an instance.
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
  /// Returns whether every worker is busy.
  bool all_busy() const noexcept RCLRT_NONBLOCKING;
  /// Returns whether, besides, fewer threads run than there are workers.
  bool may_stand_in() const noexcept RCLRT_NONBLOCKING;
  /// Says until when the one that watches sleeps in `wakeup`.
  void set_until(std::int64_t until_ns) noexcept RCLRT_NONBLOCKING { until_ns_ = until_ns; }
  /// Returns whether it would sleep for ever.
  bool sleeps_for_ever() const noexcept RCLRT_NONBLOCKING {
    return until_ns_ == realtime::EventCount::kForever;
  }

  /// Finds out which busy threads wait. Without the lock: a system call for each, and two or three
  /// more to read its state.
  void look(const LaneWorker& self, std::int64_t now_ns) noexcept RCLRT_WAITS;

  void wake_all() noexcept RCLRT_NONBLOCKING {
    wakeup.notify_all();
    patience.notify_all();
    idle.notify_all();
  }

  realtime::EventCount wakeup;    // of the one that watches: notified of what becomes ready
  realtime::EventCount patience;  // of the same while it lets time pass; notified of the end only
  realtime::EventCount idle;      // of the others

 private:
  // Grows at its head, with the lane's lock held; seq_cst, as it is read without.
  std::atomic<LaneWorker*> first_{nullptr};
  // Guarded by the lane's lock.
  const LaneWorker* watcher_ = nullptr;
  std::int64_t until_ns_ = realtime::EventCount::kForever;
};

}  // namespace rclrt::executor
