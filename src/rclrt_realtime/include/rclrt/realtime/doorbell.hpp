// SPDX-License-Identifier: Apache-2.0
// Wakes a thread that sleeps in poll, epoll or asio, from a thread that must not sleep.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Decides for a Doorbell whether a call of `ring` must make a system call. That is so only if the
/// sleeper has called `arm` since the last such system call. No ring is lost. This class is
/// separate from the file descriptor so that tests can run it under every interleaving.
///
/// The sleeper arms, then checks its condition, then sleeps. The ringer makes the condition true,
/// then rings. `arm` and `ring` are read-modify-writes of one word, so all threads agree on their
/// order. If `ring` comes after `arm`, it reads `true` and signals (or another `ring` has read it
/// and signals). If `ring` comes before `arm`, then `arm` reads the value that `ring` wrote
/// (exchanges between them continue the release sequence): release and acquire then make the
/// condition visible to the check that follows.
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

/// Wakes a thread that sleeps until a condition is true: an eventfd that is written only if the
/// thread may be asleep. Any thread may call `ring`; only one thread at a time (the sleeper) may
/// call the other functions. The sleeper may be woken late or without a reason, so it always checks
/// its condition.
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

  /// Wakes the sleeper. Takes one atomic exchange. The first call after `arm` also makes a system
  /// call, which does not sleep.
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
