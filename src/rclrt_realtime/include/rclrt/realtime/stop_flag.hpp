// SPDX-License-Identifier: Apache-2.0
// A request to stop that a loop polls, or sleeps until.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A flag that requests a stop: any thread or a signal handler raises it once. All functions but
/// `clear` are thread-safe.
///
/// Memory order: `event_` requires seq_cst on its condition, which is `requested_`. A thread that
/// sees the request also sees all earlier writes of the thread that requested the stop.
class StopFlag {
 public:
  StopFlag() = default;
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  bool stop_requested() const noexcept RCLRT_NONBLOCKING {
    return requested_.load(std::memory_order_seq_cst);
  }

  /// Requests the stop and wakes all waiters. Async-signal-safe. The call must have returned before
  /// the flag is destroyed; a waiting thread may see the request before the call returns.
  void request_stop() noexcept RCLRT_NONBLOCKING {
    requested_.store(true, std::memory_order_seq_cst);
    event_.notify_all();
  }

  /// Sleeps until a stop is requested.
  void wait() const noexcept RCLRT_WAITS { wait_until(EventCount::kForever); }

  /// Sleeps until a stop is requested (true) or CLOCK_MONOTONIC reaches `deadline_ns` (false).
  bool wait_until(std::int64_t deadline_ns) const noexcept RCLRT_WAITS {
    while (!stop_requested()) {
      const EventCount::Key key = event_.prepare_wait();
      if (stop_requested()) {
        event_.cancel_wait();
        return true;
      }
      event_.wait_until(key, deadline_ns);
      if (deadline_ns != EventCount::kForever && monotonic_now_ns() >= deadline_ns) {
        return stop_requested();
      }
    }
    return true;
  }

  /// Clears the request for the next run; only while no thread waits.
  void clear() noexcept RCLRT_NONBLOCKING { requested_.store(false, std::memory_order_seq_cst); }

 private:
  std::atomic<bool> requested_{false};
  mutable EventCount event_;
};

}  // namespace rclrt::realtime
