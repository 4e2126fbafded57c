// SPDX-License-Identifier: Apache-2.0
// Wakes a thread that sleeps in poll, epoll or asio, from a thread that must not sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The decision of a Doorbell, apart from its file descriptor: who rings makes a system call only
/// when somebody armed it since the last one, and no ring is lost.
///
/// Sleeper: make armed, then look at the condition, then sleep. Ringer: make the condition true,
/// then ring. Both are read-modify-writes of one word, which have one order that all threads agree
/// on. If ring comes after arm it finds `true` and signals (or another ring found it, and signals).
/// If it comes before, arm reads what ring wrote (the exchanges between them continue the release
/// sequence): release and acquire then make the condition visible to the look that follows.
template <template <typename> typename Atomic>
class BasicArmed {
 public:
  void arm() noexcept RCLRT_NONBLOCKING { armed_.exchange(true, std::memory_order_acq_rel); }

  /// Returns true when the caller has to signal.
  bool ring() noexcept RCLRT_NONBLOCKING {
    return armed_.exchange(false, std::memory_order_acq_rel);
  }

 private:
  Atomic<bool> armed_{true};
};

/// An eventfd that is written only when somebody may be asleep. `ring` from any thread; the other
/// functions from one thread at a time. Signals may be late and may come for nothing, so the
/// sleeper always looks at its condition.
///
///     bell.arm();                                    // sleeper
///     while (condition()) { ... }
///     bell.wait_until_ns(deadline);                  // or: back to the loop that polls fd()
///     make_condition_true(); bell.ring();            // ringer
class RCLRT_REALTIME_EXPORT Doorbell {
 public:
  /// Makes a doorbell that is armed. Throws std::system_error.
  RCLRT_SETUP Doorbell();
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  /// Rings: one atomic exchange, and for the first one after `arm` a system call that does not
  /// sleep.
  void ring() noexcept RCLRT_NONBLOCKING {
    if (armed_.ring()) {
      signal();
    }
  }

  /// Forgets earlier rings; later ones signal. Look at the condition afterwards.
  void arm() noexcept RCLRT_NONBLOCKING;

  /// Sleeps until rung (true) or CLOCK_MONOTONIC reaches `deadline_ns` (false; kNever: does not).
  bool wait_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS;

  /// Returns a descriptor that is readable when rung, for poll, epoll,
  /// asio::posix::stream_descriptor; never read or close it.
  int fd() const noexcept RCLRT_NONBLOCKING { return fd_; }

 private:
  void signal() noexcept RCLRT_NONBLOCKING;

  template <typename T>
  using Atomic = std::atomic<T>;
  BasicArmed<Atomic> armed_;
  int fd_;
};

}  // namespace rclrt::realtime
