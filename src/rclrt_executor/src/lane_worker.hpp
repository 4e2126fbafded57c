// SPDX-License-Identifier: Apache-2.0
// A thread that runs the instances of a lane.
#pragma once

#include <atomic>
#include <cstdint>

#include "lane_sleepers.hpp"
#include "rclrt/realtime/safety.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

/// The data that a lane keeps about one of its threads. A spare thread takes work only in place of
/// a worker that waits in its callback; see SpareWatch.
struct LaneWorker {
  enum class Kind : std::uint8_t { kWorker, kSpare };

  explicit LaneWorker(Kind is, int own, bool may_be_raised = false)
      : priority(own, may_be_raised), kind(is) {}
  /// For a thread that takes instances for others to run.
  LaneWorker() : kind(Kind::kWorker) {}

  /// Called by the thread before it takes the first instance.
  void begin() noexcept RCLRT_NONBLOCKING;
  /// Finds out whether this busy thread waits in its callback: it is asleep now, and was asleep for
  /// most of `patience_ns`. The spare thread that watches calls this function.
  void check(std::int64_t now_ns, std::int64_t patience_ns) noexcept RCLRT_WAITS;
  /// Returns whether it runs an instance.
  bool is_busy() const noexcept RCLRT_NONBLOCKING { return is_busy(turn.load(kRelaxed)); }
  static bool is_busy(std::uint64_t turn) noexcept RCLRT_NONBLOCKING { return (turn & 1U) != 0; }
  /// Returns whether it was found waiting in the callback that it still runs.
  bool is_waiting() const noexcept RCLRT_NONBLOCKING {
    const std::uint64_t now = turn.load(kRelaxed);
    return is_busy(now) && waiting_turn.load(kRelaxed) == now;
  }

  /// Makes it free, with the lane's lock held. Returns whether it was busy.
  bool end_turn() noexcept RCLRT_NONBLOCKING {
    const std::uint64_t now = turn.load(kRelaxed);
    if (is_busy(now)) {
      turn.store(now + 1, kRelaxed);  // the lock orders the writes: see `turn`
    }
    return is_busy(now);
  }

  // Each member states why it is enough.
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  WorkerPriority priority;
  const Kind kind;
  // Where it sleeps; nullptr: it has taken no work yet. Guarded by the lane's lock.
  LaneSleepers::Slot* slot = nullptr;
  // The kernel's thread ID; 0: it has not begun. relaxed: only a number
  std::atomic<int> thread{0};
  // The number is odd while the thread runs an instance, and changes with each. The thread writes
  // it with the lane's lock held. relaxed: a reader without the lock may consider the thread busy a
  // moment too long, and reads the number again later.
  std::atomic<std::uint64_t> turn{0};
  // The last `check` wrote these. Two spare threads may check at the same time while the token
  // moves from one to the other. relaxed: if the values of both are mixed, the next check finds
  // that the thread has changed.
  std::atomic<std::uint64_t> seen_turn{0};
  std::atomic<std::int64_t> seen_cpu_ns{-1};
  std::atomic<std::int64_t> seen_since_ns{0};
  std::atomic<std::uint64_t> waiting_turn{0};
  LaneWorker* next = nullptr;  // of the same lane
};

}  // namespace rclrt::executor
