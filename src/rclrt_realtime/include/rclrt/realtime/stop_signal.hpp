// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end the program in order, and in time.
#pragma once

#include <chrono>
#include <cstdint>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {

/// While it exists, the first SIGINT or SIGTERM raises a flag and starts a deadline. When the
/// program has not destroyed this object by then, or at a second signal, the process says so on
/// standard error and ends as the signal would have ended it at once (status 128 + n in a shell).
/// That works beside real-time threads that run for ever: the thread that watches the deadline is
/// more urgent, if that is permitted.
///
/// Make it first in `main`, and destroy it when everything has stopped. One at a time.
class RCLRT_REALTIME_EXPORT StopSignal {
 public:
  /// Throws std::logic_error when there is one already, std::system_error.
  RCLRT_SETUP explicit StopSignal(SaturatingNanoseconds deadline = std::chrono::seconds(5));

  /// Restores what the signals did before.
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Returns the flag, to poll or to wait for; it lives as long as the process.
  const StopFlag& flag() const noexcept RCLRT_NONBLOCKING;

  bool stop_requested() const noexcept RCLRT_NONBLOCKING { return flag().stop_requested(); }
  void wait() const noexcept RCLRT_WAITS { flag().wait(); }
  /// Waits until CLOCK_MONOTONIC reaches `deadline_ns` at the latest.
  bool wait_until(std::int64_t deadline_ns) const noexcept RCLRT_WAITS {
    return flag().wait_until(deadline_ns);
  }

  /// Returns the first signal that came; 0 before.
  int signal() const noexcept RCLRT_NONBLOCKING;

  struct State;  ///< not for users

 private:
  State& state_;
  Thread watcher_;
};

}  // namespace rclrt::realtime
