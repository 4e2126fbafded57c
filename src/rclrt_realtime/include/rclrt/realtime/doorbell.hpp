// SPDX-License-Identifier: Apache-2.0
// Wakes a thread that sleeps in poll, epoll or asio, from a thread that must not sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Decides for a Doorbell whether a ring needs a system call. It is separate from the file
/// descriptor. A ring needs the call only if the bell was armed since the last such call. No ring
/// is lost.
///
/// Sleeper: arm, then check the condition, then sleep. Ringer: make the condition true, then ring.
/// `arm` and `ring` are read-modify-writes of one word, so all threads agree on their order. If
/// `ring` comes after `arm`, it reads `true` and signals (or another `ring` read it and signals).
/// If it comes before, `arm` reads the value that `ring` wrote (the exchanges between them continue
/// the release sequence): release and acquire then make the condition visible to the check that
/// follows.
template <template <typename> typename Atomic>
class BasicArmed {
 public:
  void arm() noexcept RCLRT_NONBLOCKING {
    armed_.exchange(true, std::memory_order_acq_rel);  // PAIRS WITH: ring(), both ways
  }

  /// Returns true if the caller must signal.
  bool ring() noexcept RCLRT_NONBLOCKING {
    return armed_.exchange(false, std::memory_order_acq_rel);  // PAIRS WITH: arm(), both ways
  }

 private:
  Atomic<bool> armed_{true};
};

/// An eventfd that is written only when a thread may be asleep. Any thread may call `ring`; only
/// one thread at a time may call the other functions. Signals may be late or spurious, so the
/// sleeper always checks its condition.
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

  /// Rings the bell with one atomic exchange. The first ring after `arm` also makes a system call,
  /// which does not sleep.
  void ring() noexcept RCLRT_NONBLOCKING {
    if (armed_.ring()) {
      signal();
    }
  }

  /// Discards earlier rings; later ones signal. Check the condition afterwards.
  void arm() noexcept RCLRT_NONBLOCKING;

  /// Sleeps until another thread rings (returns true) or until CLOCK_MONOTONIC reaches
  /// `deadline_ns` (returns false; kNever: no deadline).
  bool wait_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS;

  /// Returns a file descriptor that becomes readable when another thread rings, for poll, epoll or
  /// asio::posix::stream_descriptor. Never read or close the descriptor.
  int fd() const noexcept RCLRT_NONBLOCKING { return fd_; }

 private:
  void signal() noexcept RCLRT_NONBLOCKING;

  template <typename T>
  using Atomic = std::atomic<T>;
  BasicArmed<Atomic> armed_;
  int fd_;
};

}  // namespace rclrt::realtime
