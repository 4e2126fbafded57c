// SPDX-License-Identifier: Apache-2.0
// Values from real-time threads to a thread that may sleep, with the wake-up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "rclrt/realtime/deadline.hpp"
#include "rclrt/realtime/doorbell.hpp"
#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A bounded queue of trivially copyable values, with a receiver that sleeps until one arrives. Any
/// thread, also a real-time one, may call `post`. Only one thread at a time may call the receiver's
/// functions. A value that does not fit is dropped and counted. The first post after the receiver
/// fell asleep costs one system call that does not sleep (a write to an eventfd); all other posts
/// cost none.
///
///     Mailbox<Fault> faults(64);
///     faults.post({.axis = 2});                                        // real-time thread
///     for (Fault fault; faults.wait(fault);) { ... }                   // a thread of its own, or
///     when_readable(faults.fd(), [&] { faults.drain(handle); }); // in an event loop
template <typename T>
class Mailbox {
 public:
  /// Makes a mailbox for `capacity` values, rounded up to a power of two. Throws
  /// std::invalid_argument if `capacity` is zero, std::bad_alloc, and std::system_error if no
  /// eventfd can be created.
  RCLRT_SETUP explicit Mailbox(std::size_t capacity) : queue_(capacity) {}

  std::size_t capacity() const noexcept RCLRT_NONBLOCKING { return queue_.capacity(); }

  /// Returns false when it is full; the value is then dropped and counted.
  bool post(const T& value) noexcept RCLRT_NONBLOCKING {
    if (!queue_.try_push(value)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);  // a count, orders nothing
      return false;
    }
    bell_.ring();
    return true;
  }

  /// Returns the number of dropped values since construction. Thread-safe.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING {
    return dropped_.load(std::memory_order_relaxed);
  }

  /// Takes the oldest value (receiver). Returns false when there is none.
  bool try_take(T& value) noexcept RCLRT_NONBLOCKING { return queue_.try_pop(value); }

  /// Sleeps until there is a value and takes it (receiver); always true.
  bool wait(T& value) noexcept RCLRT_WAITS { return wait_until_ns(value, kNever); }

  /// Sleeps until there is a value and takes it (receiver); false if the deadline passed first.
  template <typename Duration>
  bool wait_until(T& value,
                  std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) noexcept
      RCLRT_WAITS {
    return wait_until_ns(value, to_deadline_ns(deadline));
  }
  /// Sleeps until there is a value, but not longer than `timeout`.
  template <typename Rep, typename Period>
  bool wait_for(T& value, std::chrono::duration<Rep, Period> timeout) noexcept RCLRT_WAITS {
    return wait_until_ns(value, to_deadline_ns(timeout));
  }
  /// Sleeps until there is a value, but not beyond `deadline_ns` on CLOCK_MONOTONIC.
  bool wait_until_ns(T& value, std::int64_t deadline_ns) noexcept RCLRT_WAITS {
    for (bool in_time = true;;) {
      if (queue_.try_pop(value)) {
        return true;
      }
      if (!in_time) {
        return false;
      }
      bell_.arm();
      if (queue_.try_pop(value)) {
        return true;
      }
      in_time = bell_.wait_until_ns(deadline_ns);
    }
  }

  /// Returns a file descriptor that is readable when there are values: the receiver then calls
  /// `drain`. Never read or close the descriptor.
  int fd() const noexcept RCLRT_NONBLOCKING { return bell_.fd(); }

  /// Calls `handle(const T&)` for every value, at most for `capacity` values, and returns their
  /// number. For a receiver with an event loop. Afterwards `fd` is readable only if there are more
  /// values: those that arrived meanwhile, or that were left because `handle` threw.
  template <typename Handle>
  std::size_t drain(Handle handle) RCLRT_WAITS {
    bell_.arm();
    RingUnlessEmpty again{bell_};
    for (T value; again.handled < capacity(); ++again.handled) {
      if (!queue_.try_pop(value)) {
        again.empty = true;
        break;
      }
      handle(static_cast<const T&>(value));
    }
    return again.handled;
  }

 private:
  /// Rings if values may be left: the event loop first handles its other events, then calls again.
  struct RingUnlessEmpty {
    ~RingUnlessEmpty() {
      if (!empty) {
        bell.ring();
      }
    }
    Doorbell& bell;
    std::size_t handled = 0;
    bool empty = false;
  };

  MpscQueue<T> queue_;
  Doorbell bell_;
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace rclrt::realtime
