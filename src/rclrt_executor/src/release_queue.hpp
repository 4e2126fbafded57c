// SPDX-License-Identifier: Apache-2.0
// Instances that wait, with the timers that release into it.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/detail/level_list.hpp"
#include "rclrt/executor/timer.hpp"
#include "timer_heap.hpp"

namespace rclrt::executor {

/// A queue of ready instances, in order of release, or the most urgent level first and each level
/// in order of release. Any thread pushes instances, and the queue's own timers release some. They
/// are taken out under a lock that the owner of the queue has. A push is one compare-and-swap on
/// `pushed_`. If a producer is preempted within a push, the instances of other producers are still
/// visible, so a less urgent producer never delays the consumer.
///
/// `pushed_` is a stack with the newest instance first. The consumer takes all of it at once and
/// reverses it. Both sides access it with seq_cst, so that it may be the condition of an
/// EventCount.
class ReleaseQueue {
 public:
  enum class Order : std::uint8_t { kByRelease, kByLevel };
  explicit ReleaseQueue(Order order = Order::kByRelease) : by_level_(order == Order::kByLevel) {}

  /// Pushes an instance. Thread-safe.
  void push(Instance* instance) noexcept RCLRT_NONBLOCKING;
  bool has_pushed() const noexcept RCLRT_NONBLOCKING {
    return pushed_.load(std::memory_order_seq_cst) != nullptr;
  }

  // The caller of the following functions holds the consumer's lock.

  /// Moves the pushed instances and those of due timers into the list, merged by release.
  void collect() noexcept;
  /// `take_pushed` and the function after it are the two halves of `collect`, for an owner that
  /// collects from several queues at one time. `take_pushed` returns the pushed instances, the
  /// oldest first. The other function merges them with the timers that are due at `now_ns`. Read
  /// the clock for `now_ns` after `take_pushed`; otherwise a message would be put before an earlier
  /// timer.
  Instance* take_pushed() noexcept;
  void merge(Instance* pushed, std::int64_t now_ns) noexcept;
  /// Returns the first of the list; nullptr when it is empty.
  Instance* first() const noexcept { return waiting_.first(); }
  /// Looks at the first instance of each level. Returns the most urgent one of them that became
  /// ready by `ready_by_ns`; nullptr: none.
  Instance* first_ready_by(std::int64_t ready_by_ns) const noexcept {
    return waiting_.first_ready_by(ready_by_ns);
  }
  /// Removes an instance that one of these two returned.
  void remove_first(Instance* instance) noexcept { waiting_.remove_first(instance); }
  /// Puts a removed instance back to its old place.
  void put_back(Instance* instance) noexcept { waiting_.insert(instance, level_of(*instance)); }
  /// Moves every instance of `callback` to the list `taken`.
  void remove_queued(const Callback& callback, Instance*& taken) noexcept {
    waiting_.remove_all(callback, taken);
  }
  /// Gives back all instances as counted drops. No thread may push any more.
  void discard_all() noexcept;

  TimerHeap& timers() noexcept { return timers_; }

 private:
  void append(Instance* instance) noexcept;

  int level_of(const Instance& instance) const noexcept {
    return by_level_ ? instance.callback->level() : 0;
  }

  std::atomic<Instance*> pushed_{nullptr};
  const bool by_level_;
  detail::LevelList waiting_;
  std::uint64_t next_order_ = 0;
  TimerHeap timers_;
};

}  // namespace rclrt::executor
