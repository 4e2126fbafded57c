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

/// Instances in order of release, or the most urgent level first and each in order of release.
/// Pushed by any thread, or released by its own timers; consumed under a lock of its owner, who
/// says which. A push is one compare-and-swap on `pushed_`: a producer that is preempted in a push
/// hides nothing that others pushed, so a less urgent publisher never delays the consumer.
///
/// `pushed_` is a stack, newest first. The consumer takes all of it at once and reverses it. It is
/// accessed with seq_cst on both sides, so that it may be the condition of an EventCount.
class ReleaseQueue {
 public:
  enum class Order : std::uint8_t { kByRelease, kByLevel };
  explicit ReleaseQueue(Order order = Order::kByRelease) : by_level_(order == Order::kByLevel) {}

  /// Any thread.
  void push(Instance* instance) noexcept RCLRT_NONBLOCKING;
  bool has_pushed() const noexcept RCLRT_NONBLOCKING {
    return pushed_.load(std::memory_order_seq_cst) != nullptr;
  }

  // The rest is for who holds the consumer's lock.

  /// Moves what was pushed and the timers that are due into the list, merged by release.
  void collect() noexcept;
  /// Its two halves, for who collects from several queues at one time: what was pushed, the oldest
  /// first; and merging that with the timers that are due at `now_ns`, which must have been read
  /// after it: else a message would go before an earlier timer.
  Instance* take_pushed() noexcept;
  void merge(Instance* pushed, std::int64_t now_ns) noexcept;
  /// The first of the list; nullptr when it is empty.
  Instance* first() const noexcept { return waiting_.first(); }
  /// The first that became ready by then, of those that are the first of their level.
  Instance* first_ready_by(std::int64_t ready_by_ns) const noexcept {
    return waiting_.first_ready_by(ready_by_ns);
  }
  /// Takes out what one of these two returned.
  void remove_first(Instance* instance) noexcept { waiting_.remove_first(instance); }
  /// Puts back, to its old place, what was taken out.
  void put_back(Instance* instance) noexcept { waiting_.insert(instance, level_of(*instance)); }
  /// Moves every instance of `callback` to the list `taken`.
  void remove_queued(const Callback& callback, Instance*& taken) noexcept {
    waiting_.remove_all(callback, taken);
  }
  /// Nobody pushes any more: gives back what is left, as counted drops.
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
