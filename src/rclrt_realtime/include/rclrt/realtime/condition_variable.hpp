// SPDX-License-Identifier: Apache-2.0
// A condition variable for PiMutex: wakes the most urgent waiter first.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/mutex.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The functions of std::condition_variable for a PiMutex. It has no window in which an urgent
/// thread depends on a thread that is not boosted. glibc's pthread_cond_t has such windows: a
/// spin-then-futex lock inside it, signallers that wait until a whole group of earlier waiters has
/// left, and groups that take precedence over priority.
///
/// Change the condition with the mutex held; notify with or without it. All waits may return
/// spuriously. Times are on CLOCK_MONOTONIC. Waiting functions need the lock held and return with
/// it held; predicates must not throw.
///
/// Algorithm: a futex word that every notification increments. A waiter reads it with the mutex
/// held, unlocks, sleeps while the word is unchanged, and locks again, with inheritance.
/// * No lost wake-up: a notification after the waiter unlocked changes the word, and the kernel
///   compares the word before it puts the waiter to sleep. The only exception is 2^32 notifications
///   between these two steps.
/// * No stolen wake-up: FUTEX_WAKE_OP increments and wakes in one step under the kernel's lock for
///   that word. With an increment first and a wake after, a waiter that came between the two could
///   take the wake-up of one that waited before.
/// * Order: the kernel keeps the sleepers of a futex in the order of real-time priority, and first
///   come first served within one priority. The priority at the time of falling asleep counts.
/// * `waiters_` changes only with the mutex held. Relaxed loads are enough: if a waiter has not
///   seen a notifier's change of the condition, the notifier locked the mutex after that waiter had
///   counted itself and unlocked. So the notifier sees the count, also after it has unlocked.
///
/// librtpi moves the woken waiter onto the mutex inside the kernel instead (FUTEX_CMP_REQUEUE_PI),
/// which saves a context switch when the mutex is held. But it needs its own type of mutex, without
/// robustness, and the notifier must hold the mutex. Here a woken waiter that finds the mutex held
/// boosts the owner as any other waiter does.
class RCLRT_REALTIME_EXPORT PiConditionVariable {
 public:
  PiConditionVariable() = default;
  PiConditionVariable(const PiConditionVariable&) = delete;
  PiConditionVariable& operator=(const PiConditionVariable&) = delete;

  /// Unlocks, sleeps until notified or spuriously woken, and locks again.
  void wait(std::unique_lock<PiMutex>& lock) noexcept RCLRT_WAITS { wait_until_ns(lock, kNever); }

  template <typename Predicate>
  void wait(std::unique_lock<PiMutex>& lock, Predicate predicate) noexcept RCLRT_WAITS {
    while (!predicate()) {
      wait(lock);
    }
  }

  /// Waits until notified, but not beyond `deadline`. Returns whether the deadline has passed.
  template <typename Duration>
  std::cv_status wait_until(
      std::unique_lock<PiMutex>& lock,
      std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) noexcept RCLRT_WAITS {
    return wait_until_ns(lock, to_deadline_ns(deadline));
  }

  /// Waits until `predicate` is true, but not beyond `deadline`. Returns the last value of the
  /// predicate; false: the deadline has passed and the predicate is still false.
  template <typename Duration, typename Predicate>
  bool wait_until(std::unique_lock<PiMutex>& lock,
                  std::chrono::time_point<std::chrono::steady_clock, Duration> deadline,
                  Predicate predicate) noexcept RCLRT_WAITS {
    return wait_until_ns(lock, to_deadline_ns(deadline), predicate);
  }

  /// Waits until notified, but not longer than `timeout`.
  template <typename Rep, typename Period>
  std::cv_status wait_for(std::unique_lock<PiMutex>& lock,
                          std::chrono::duration<Rep, Period> timeout) noexcept RCLRT_WAITS {
    return wait_until_ns(lock, to_deadline_ns(timeout));
  }

  template <typename Rep, typename Period, typename Predicate>
  bool wait_for(std::unique_lock<PiMutex>& lock, std::chrono::duration<Rep, Period> timeout,
                Predicate predicate) noexcept RCLRT_WAITS {
    return wait_until_ns(lock, to_deadline_ns(timeout), predicate);
  }

  /// Waits until notified, but not beyond `deadline_ns` on CLOCK_MONOTONIC.
  std::cv_status wait_until_ns(std::unique_lock<PiMutex>& lock,
                               std::int64_t deadline_ns) noexcept RCLRT_WAITS;

  template <typename Predicate>
  bool wait_until_ns(std::unique_lock<PiMutex>& lock, std::int64_t deadline_ns,
                     Predicate predicate) noexcept RCLRT_WAITS {
    while (!predicate()) {
      if (wait_until_ns(lock, deadline_ns) == std::cv_status::timeout) {
        return predicate();
      }
    }
    return true;
  }

  /// Wakes the most urgent waiter. Makes no system call if no thread waits.
  void notify_one() noexcept RCLRT_NONBLOCKING { notify(1); }

  /// Wakes every waiter, the most urgent first.
  void notify_all() noexcept RCLRT_NONBLOCKING { notify(INT32_MAX); }

 private:
  void notify(int count) noexcept RCLRT_NONBLOCKING {
    if (waiters_.load(std::memory_order_relaxed) != 0) {  // relaxed: see above
      increment_and_wake(count);
    }
  }
  void increment_and_wake(int count) noexcept RCLRT_NONBLOCKING;

  std::atomic<std::uint32_t> notifications_{1};
  std::atomic<std::uint32_t> waiters_{0};
};

}  // namespace rclrt::realtime
