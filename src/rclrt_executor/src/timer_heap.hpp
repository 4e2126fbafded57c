// SPDX-License-Identifier: Apache-2.0
// Timers in order of their next releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/executor/timer.hpp"

namespace rclrt::executor {

/// The timers of a lane, sorted by their next release: a heap with four children for each node. The
/// heap contains copies of the release times, so the thread that releases timers accesses only the
/// timer that is due. Four children fill one cache line.
///
/// Invariant: no timer is earlier than its parent. The children of the first timer are an exception
/// while `is_ordered_` is false: its time has moved on, and it has not been moved to its place yet.
/// `update_order` does that later, when no instance waits for it.
///
/// Not thread-safe. The schedule of a timer in the heap is changed only by `expire_first`.
class TimerHeap {
 public:
  /// A time that is never reached.
  static constexpr std::int64_t kNever = INT64_MAX;

  /// Adds a timer, the schedule of which has been started.
  RCLRT_SETUP void add(TimerCallback* timer);
  RCLRT_SETUP void remove(const TimerCallback* timer) noexcept;
  RCLRT_SETUP void clear() noexcept {
    entries_.clear();
    is_ordered_ = true;
  }

  bool empty() const noexcept RCLRT_NONBLOCKING { return entries_.empty(); }

  /// Returns the earliest release; kNever without timers.
  std::int64_t next_ns() const noexcept RCLRT_NONBLOCKING;
  /// Returns the earliest release that must be made before `running` ends. Releases of `running`
  /// itself may be made later if `may_be_released_late` is true for it; only the first timer of the
  /// heap is checked for that.
  std::int64_t next_beside_ns(const Callback& running) const noexcept RCLRT_NONBLOCKING;
  /// Returns the same as `next_beside_ns` for a later time: when the next release has been taken
  /// and its callback is running. Call `update_order` first.
  std::int64_t following_ns() const noexcept RCLRT_NONBLOCKING;

  /// Takes the earliest release, which must be due, off its schedule, as `expire` does.
  Instance* expire_first(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;
  /// Moves the first timer to its place if needed: as many steps as the heap has levels.
  void update_order() noexcept RCLRT_NONBLOCKING;

 private:
  struct Entry {
    std::int64_t next_ns;
    TimerCallback* timer;
  };
  static constexpr std::size_t kChildren = 4;

  std::size_t earliest_child(std::size_t parent) const noexcept RCLRT_NONBLOCKING;
  std::int64_t second_ns() const noexcept RCLRT_NONBLOCKING;
  void sift_up(std::size_t index) noexcept RCLRT_NONBLOCKING;
  void sift_down(std::size_t index) noexcept RCLRT_NONBLOCKING;

  std::vector<Entry> entries_;
  bool is_ordered_ = true;
};

}  // namespace rclrt::executor
