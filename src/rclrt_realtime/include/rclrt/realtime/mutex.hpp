// SPDX-License-Identifier: Apache-2.0
// Mutexes whose blocking time is bounded: priority inheritance and priority ceiling.
#pragma once

#include <pthread.h>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

namespace detail {
/// A pthread mutex with a chosen protocol; meets Lockable.
class ProtocolMutex {
 public:
  /// `protocol` is PTHREAD_PRIO_INHERIT or PTHREAD_PRIO_PROTECT, `ceiling` counts for the latter.
  /// Throws std::system_error.
  RCLRT_SETUP ProtocolMutex(int protocol, int ceiling);
  ~ProtocolMutex();
  ProtocolMutex(const ProtocolMutex&) = delete;
  ProtocolMutex& operator=(const ProtocolMutex&) = delete;

  /// Terminates the process on misuse (a thread above the ceiling, a lock taken twice): going on
  /// would run two members of one critical section at once.
  void lock() noexcept RCLRT_WAITS;
  bool try_lock() noexcept RCLRT_NONBLOCKING;
  void unlock() noexcept RCLRT_NONBLOCKING;
  pthread_mutex_t* native_handle() noexcept { return &mutex_; }

 private:
  pthread_mutex_t mutex_;
};
}  // namespace detail

/// Priority inheritance: who holds it runs at least at the priority of its most urgent waiter, so
/// a waiter waits for the critical section and for nothing else. Error-checking; not recursive.
class PiMutex : public detail::ProtocolMutex {
 public:
  RCLRT_SETUP PiMutex() : ProtocolMutex(PTHREAD_PRIO_INHERIT, 0) {}
};

/// Immediate priority ceiling: who holds it runs at `ceiling`, a SCHED_FIFO priority. On one CPU a
/// thread is then blocked by at most one less urgent critical section, before it starts, and
/// cannot deadlock (Sha, Rajkumar, Lehoczky 1990). Lockers must run under SCHED_FIFO or SCHED_RR
/// at or below the ceiling.
class CeilingMutex : public detail::ProtocolMutex {
 public:
  RCLRT_SETUP explicit CeilingMutex(int ceiling) : ProtocolMutex(PTHREAD_PRIO_PROTECT, ceiling) {}
};

}  // namespace rclrt::realtime
