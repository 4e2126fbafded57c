// SPDX-License-Identifier: Apache-2.0
// Mutexes with bounded blocking time: priority inheritance and priority ceiling.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdint>

#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

namespace detail {
/// A pthread mutex with a protocol for priorities. It is TimedLockable on
/// std::chrono::steady_clock, so std::scoped_lock, std::unique_lock and std::lock work with it. It
/// checks for errors and is not recursive.
class RCLRT_REALTIME_EXPORT ProtocolMutex {
 public:
  ProtocolMutex(const ProtocolMutex&) = delete;
  ProtocolMutex& operator=(const ProtocolMutex&) = delete;

  /// Locks the mutex. Terminates the process on misuse (a thread above the ceiling, a second lock
  /// by the owner), because otherwise two threads would run one critical section at once.
  void lock() noexcept RCLRT_WAITS;

  /// Returns false if the mutex is held. Terminates on misuse, as `lock`.
  bool try_lock() noexcept RCLRT_NONBLOCKING;

  /// Tries to lock until `deadline`. Returns false if the deadline passed first.
  template <typename Duration>
  bool try_lock_until(
      std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) noexcept RCLRT_WAITS {
    return try_lock_until_ns(to_deadline_ns(deadline));
  }
  template <typename Rep, typename Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> timeout) noexcept RCLRT_WAITS {
    return try_lock_until_ns(to_deadline_ns(timeout));
  }

  /// Tries to lock until CLOCK_MONOTONIC reaches `deadline_ns`. Returns whether it has locked. A
  /// PiMutex needs Linux 5.14 (FUTEX_LOCK_PI2) and glibc 2.34 for that. On older systems it waits
  /// on CLOCK_REALTIME for the remaining time, so setting that clock back lengthens the wait.
  bool try_lock_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS;

  void unlock() noexcept RCLRT_NONBLOCKING;
  pthread_mutex_t* native_handle() noexcept RCLRT_NONBLOCKING { return &mutex_; }

 protected:
  /// Makes a mutex. `protocol` is PTHREAD_PRIO_INHERIT or PTHREAD_PRIO_PROTECT; `ceiling` is the
  /// SCHED_FIFO priority for PTHREAD_PRIO_PROTECT. Throws std::system_error.
  RCLRT_SETUP ProtocolMutex(int protocol, int ceiling, bool robust);
  ~ProtocolMutex();

  bool owner_died_ = false;  // guarded by mutex_

 private:
  /// Returns true if `error`, the result of a lock function, means that the caller has the lock.
  bool acquired(int error) noexcept RCLRT_NONBLOCKING;

  pthread_mutex_t mutex_;
};
}  // namespace detail

/// Selects a PiMutex that survives the end of its owner.
struct Robust {};
/// Its only value.
inline constexpr Robust kRobust{};

/// A mutex with priority inheritance: the holder runs at least at the priority of its most urgent
/// waiter, so a waiter waits only for the critical section (Sha, Rajkumar, Lehoczky 1990). If the
/// mutex is free, locking and unlocking each take one compare-and-swap and no system call.
class PiMutex : public detail::ProtocolMutex {
 public:
  /// Makes a mutex. If its owner ends without unlocking, waiters wait for ever.
  RCLRT_SETUP PiMutex() : ProtocolMutex(PTHREAD_PRIO_INHERIT, 0, false) {}

  /// Makes a robust mutex: if its owner ends without unlocking, the next thread gets the lock, and
  /// `owner_died` returns true. Throws std::system_error.
  RCLRT_SETUP explicit PiMutex(Robust /*tag*/) : ProtocolMutex(PTHREAD_PRIO_INHERIT, 0, true) {}

  /// Returns whether an owner ended inside its critical section and `consistent` has not been
  /// called since then. The guarded data may then be half-changed. Only the holder may call this
  /// function.
  bool owner_died() const noexcept RCLRT_NONBLOCKING { return owner_died_; }

  /// Declares that the guarded data is consistent again. Only the holder may call it. (Unlike in
  /// POSIX, the mutex stays usable if it is unlocked without this call: `owner_died` is then true
  /// for the next owner as well.)
  void consistent() noexcept RCLRT_NONBLOCKING { owner_died_ = false; }
};

/// A mutex with an immediate priority ceiling: the holder runs at `ceiling`, a SCHED_FIFO priority.
/// On one CPU a thread is then blocked by at most one less urgent critical section, before it
/// starts, and cannot deadlock (Sha, Rajkumar, Lehoczky 1990). Threads that lock it must run under
/// SCHED_FIFO or SCHED_RR at or below the ceiling. Locking and unlocking each make a system call,
/// which changes the priority.
class RCLRT_REALTIME_EXPORT CeilingMutex : public detail::ProtocolMutex {
 public:
  /// Throws std::system_error for a ceiling that is not a SCHED_FIFO priority.
  RCLRT_SETUP explicit CeilingMutex(int ceiling)
      : ProtocolMutex(PTHREAD_PRIO_PROTECT, ceiling, false) {}

  /// Prepares the calling thread: glibc allocates the counters of a thread's ceilings when the
  /// thread locks its first CeilingMutex, and this function makes it do so now. It does nothing
  /// unless the thread runs under SCHED_FIFO or SCHED_RR. `Thread` calls it.
  RCLRT_SETUP static void prepare_thread();
};

}  // namespace rclrt::realtime
