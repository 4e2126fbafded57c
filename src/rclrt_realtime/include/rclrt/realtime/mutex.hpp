// SPDX-License-Identifier: Apache-2.0
// Mutexes whose blocking time is bounded: priority inheritance and priority ceiling.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdint>

#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

namespace detail {
/// A pthread mutex with a chosen protocol; meets TimedLockable on std::chrono::steady_clock, so
/// std::scoped_lock, std::unique_lock and std::lock work with it. Error-checking; not recursive.
class RCLRT_REALTIME_EXPORT ProtocolMutex {
 public:
  ProtocolMutex(const ProtocolMutex&) = delete;
  ProtocolMutex& operator=(const ProtocolMutex&) = delete;

  /// Terminates the process on misuse (a thread above the ceiling, a lock taken twice): going on
  /// would run two members of one critical section at once.
  void lock() noexcept RCLRT_WAITS;

  /// Returns false when somebody holds it. Terminates on misuse, as `lock`.
  bool try_lock() noexcept RCLRT_NONBLOCKING;

  /// Returns false when `deadline` came first.
  template <typename Duration>
  bool try_lock_until(
      std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) noexcept RCLRT_WAITS {
    return try_lock_until_ns(to_deadline_ns(deadline));
  }
  template <typename Rep, typename Period>
  bool try_lock_for(std::chrono::duration<Rep, Period> timeout) noexcept RCLRT_WAITS {
    return try_lock_until_ns(to_deadline_ns(timeout));
  }

  /// Tries until a time of CLOCK_MONOTONIC in nanoseconds. A PiMutex needs Linux 5.14
  /// (FUTEX_LOCK_PI2) and glibc 2.34 for that; on older ones it waits on CLOCK_REALTIME for the
  /// time that is left, so setting that clock back makes the wait longer.
  bool try_lock_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS;

  void unlock() noexcept RCLRT_NONBLOCKING;
  pthread_mutex_t* native_handle() noexcept RCLRT_NONBLOCKING { return &mutex_; }

 protected:
  /// Makes a mutex; `protocol` is PTHREAD_PRIO_INHERIT or PTHREAD_PRIO_PROTECT, `ceiling` counts
  /// for the latter. Throws std::system_error.
  RCLRT_SETUP ProtocolMutex(int protocol, int ceiling, bool robust);
  ~ProtocolMutex();

  bool owner_died_ = false;  // guarded by mutex_

 private:
  /// Returns true when `error`, what a lock function returned, means that the caller has the lock.
  bool acquired(int error) noexcept RCLRT_NONBLOCKING;

  pthread_mutex_t mutex_;
};
}  // namespace detail

/// Asks for a PiMutex that survives the end of its owner.
struct Robust {};
/// Its only value.
inline constexpr Robust kRobust{};

/// Priority inheritance: who holds it runs at least at the priority of its most urgent waiter, so
/// a waiter waits for the critical section and for nothing else (Sha, Rajkumar, Lehoczky 1990).
/// When it is free, locking and unlocking are one compare-and-swap each and no system call.
class PiMutex : public detail::ProtocolMutex {
 public:
  /// Makes a mutex of which a waiter waits for ever if the owner ended without unlocking.
  RCLRT_SETUP PiMutex() : ProtocolMutex(PTHREAD_PRIO_INHERIT, 0, false) {}

  /// Makes a robust mutex: if its owner ends without unlocking, the next one gets the lock, and
  /// `owner_died` tells it. Throws std::system_error.
  RCLRT_SETUP explicit PiMutex(Robust /*tag*/) : ProtocolMutex(PTHREAD_PRIO_INHERIT, 0, true) {}

  /// Returns (holder only) whether an owner ended inside its critical section and nobody has called
  /// `consistent` since: the guarded data may be half-changed.
  bool owner_died() const noexcept RCLRT_NONBLOCKING { return owner_died_; }

  /// Declares (holder only) that the guarded data is in order again. (Unlike POSIX, unlocking
  /// without it does not make the mutex useless: the next owner is told as well.)
  void consistent() noexcept RCLRT_NONBLOCKING { owner_died_ = false; }
};

/// Immediate priority ceiling: who holds it runs at `ceiling`, a SCHED_FIFO priority. On one CPU a
/// thread is then blocked by at most one less urgent critical section, before it starts, and
/// cannot deadlock (Sha, Rajkumar, Lehoczky 1990). Lockers must run under SCHED_FIFO or SCHED_RR
/// at or below the ceiling. Locking and unlocking are a system call each that changes the priority.
class RCLRT_REALTIME_EXPORT CeilingMutex : public detail::ProtocolMutex {
 public:
  /// Throws std::system_error for a ceiling that is not a SCHED_FIFO priority.
  RCLRT_SETUP explicit CeilingMutex(int ceiling)
      : ProtocolMutex(PTHREAD_PRIO_PROTECT, ceiling, false) {}

  /// Prepares the calling thread: the first ceiling that it locks makes glibc allocate the place
  /// where the thread's ceilings are counted. This does it now, for the calling thread, which must
  /// be under SCHED_FIFO or SCHED_RR (otherwise there is nothing to do). `Thread` calls it.
  RCLRT_SETUP static void prepare_thread();
};

}  // namespace rclrt::realtime
