// SPDX-License-Identifier: Apache-2.0
// Timers in order of their next releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/executor/timer.hpp"

namespace rclrt::executor {

/// A heap of four children per node with the times in it: whoever keeps the time looks at no timer
/// but the one that is due, and four children are one cache line.
///
/// Invariant: no timer is earlier than its parent, but for the children of the first one while
/// `settled_` is false: its time has moved on and it has not been put in its place yet. That is
/// put off until nothing waits for it, see `settle`.
///
/// Not thread-safe; a schedule changes only by `expire_first`, or while its timer is not in the
/// heap.
class TimerHeap {
 public:
  /// The time of what never comes.
  static constexpr std::int64_t kNever = INT64_MAX;

  /// A timer whose schedule has been started.
  RCLRT_SETUP void add(TimerCallback* timer);
  RCLRT_SETUP void remove(const TimerCallback* timer) noexcept;
  RCLRT_SETUP void clear() noexcept {
    entries_.clear();
    settled_ = true;
  }

  bool empty() const noexcept RCLRT_NONBLOCKING { return entries_.empty(); }

  /// The earliest release; kNever without timers.
  std::int64_t next_ns() const noexcept RCLRT_NONBLOCKING;
  /// The earliest release that must not wait for the end of `running`. (Later ones of a timer that
  /// `may_be_released_late` may; it is recognised while it is the first.)
  std::int64_t next_beside_ns(const Callback& running) const noexcept RCLRT_NONBLOCKING;
  /// The same, once the next release is taken and its callback runs. Settled heaps only.
  std::int64_t following_ns() const noexcept RCLRT_NONBLOCKING;

  /// Takes the earliest release, which must be due, off its schedule: as TimerCallback::expire.
  Instance* expire_first(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;
  /// Puts the first timer in its place, if it is not: as many steps as the heap has levels.
  void settle() noexcept RCLRT_NONBLOCKING;

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
  bool settled_ = true;
};

}  // namespace rclrt::executor
