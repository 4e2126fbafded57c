// SPDX-License-Identifier: Apache-2.0
// Sleep until a condition that other threads change without a lock becomes true.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/atomics.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A futex-based event count. Waiters check their own condition between `prepare_wait` and `wait`;
/// notifiers change the condition first and call `notify_*` after. A notification then costs a
/// system call only when a thread sleeps, and no wake-up is lost.
///
///     for (;;) {                                     // waiter
///       const auto key = event.prepare_wait();
///       if (condition()) { event.cancel_wait(); break; }
///       event.wait(key);
///     }
///     make_condition_true(); event.notify_one();     // notifier
///
/// Invariant: `waiters_` counts the threads between `prepare_wait` and the end of `wait` or
/// `cancel_wait`. The condition and `waiters_` are both accessed with seq_cst by the two sides: in
/// the single total order either the notifier's read of `waiters_` sees the waiter, or the waiter's
/// check of the condition sees the notifier's change. `epoch_` turns a notification that falls
/// between `prepare_wait` and the futex call into an immediate return.
///
/// The condition itself must be read and written with seq_cst operations (or under one lock). All
/// functions are thread-safe; `notify_*` are async-signal-safe. For `Atomics` see atomics.hpp;
/// `test/interleaving_waits_test.cpp` runs this code under every interleaving of a small case.
template <typename Atomics = StdAtomics>
class BasicEventCount {
 public:
  BasicEventCount() = default;
  BasicEventCount(const BasicEventCount&) = delete;
  BasicEventCount& operator=(const BasicEventCount&) = delete;

  /// The epoch that `prepare_wait` read.
  using Key = std::uint32_t;

  Key prepare_wait() noexcept RCLRT_NONBLOCKING {
    // The key is read first: a notification after this line makes wait() return at once.
    const Key key = epoch_.load(std::memory_order_seq_cst);
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    return key;
  }

  void cancel_wait() noexcept RCLRT_NONBLOCKING {
    waiters_.fetch_sub(1, std::memory_order_seq_cst);
  }

  /// Sleeps until notified after `prepare_wait` returned `key`. May return spuriously.
  void wait(Key key) noexcept RCLRT_WAITS { wait_until(key, kForever); }

  /// Waits until CLOCK_MONOTONIC reaches `deadline_ns` at the latest.
  void wait_until(Key key, std::int64_t deadline_ns) noexcept RCLRT_WAITS {
    // The caller checks its condition again after every return: woken, notified before the sleep,
    // timed out or interrupted.
    Atomics::wait_while(epoch_, key, deadline_ns);
    waiters_.fetch_sub(1, std::memory_order_seq_cst);
  }

  /// Wakes at most one sleeping thread. Returns true if it woke one. (If it did not, a thread
  /// between `prepare_wait` and the end of `wait` still checks its condition again.)
  bool notify_one() noexcept RCLRT_NONBLOCKING { return notify(1); }
  void notify_all() noexcept RCLRT_NONBLOCKING { notify(kEverybody); }

  static constexpr std::int64_t kForever = INT64_MAX;

 private:
  static constexpr int kEverybody = INT32_MAX;

  bool notify(int count) noexcept RCLRT_NONBLOCKING {
    if (waiters_.load(std::memory_order_seq_cst) == 0) {
      return false;
    }
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    return Atomics::wake(epoch_, count) > 0;
  }

  Atomics::Futex epoch_{0};
  Atomics::template Atomic<std::uint32_t> waiters_{0};
};

/// The event count for all code but the interleaving tests.
using EventCount = BasicEventCount<>;

}  // namespace rclrt::realtime
