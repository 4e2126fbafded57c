// SPDX-License-Identifier: Apache-2.0
// Instances in order of release, with the timers that release into it.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/timer.hpp"
#include "timer_heap.hpp"

namespace rclrt::executor {

/// Pushed by any thread, or released by its own timers; consumed under a lock of its owner, who
/// says which. A push is one compare-and-swap on `pushed_`: a producer that is preempted in a push
/// hides nothing that others pushed, so a less urgent publisher never delays the consumer.
///
/// `pushed_` is a stack, newest first. The consumer takes all of it at once and reverses it. It is
/// accessed with seq_cst on both sides, so that it may be the condition of an EventCount.
class ReleaseQueue {
 public:
  /// Any thread.
  void push(Instance* instance) noexcept RCLRT_NONBLOCKING;
  bool has_pushed() const noexcept RCLRT_NONBLOCKING {
    return pushed_.load(std::memory_order_seq_cst) != nullptr;
  }

  // The rest is for who holds the consumer's lock.

  /// Moves what was pushed and the timers that are due to the end of the list, merged by release.
  void collect() noexcept;
  /// Its two halves, for who collects from several queues at one time: what was pushed, the oldest
  /// first; and merging that with the timers that are due at `now_ns`, which must have been read
  /// after it: else a message would go before an earlier timer.
  Instance* take_pushed() noexcept;
  void merge(Instance* pushed, std::int64_t now_ns) noexcept;
  /// The oldest of the list; nullptr when it is empty.
  Instance* first() const noexcept { return first_; }
  /// Takes it out; there must be one.
  Instance* unlink_first() noexcept;
  /// Puts back, to its old place, what was taken out.
  void put_back(Instance* instance) noexcept;
  /// Moves every instance of `callback` to the list `taken`.
  void remove_queued(const Callback& callback, Instance*& taken) noexcept;
  /// Nobody pushes any more: gives back what is left, as counted drops.
  void discard_all() noexcept;

  TimerHeap& timers() noexcept { return timers_; }

 private:
  void append(Instance* instance) noexcept;

  std::atomic<Instance*> pushed_{nullptr};
  Instance* first_ = nullptr;
  Instance* last_ = nullptr;
  std::uint64_t next_order_ = 0;
  TimerHeap timers_;
};

}  // namespace rclrt::executor
