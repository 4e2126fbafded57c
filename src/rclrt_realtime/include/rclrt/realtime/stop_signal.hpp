// SPDX-License-Identifier: Apache-2.0
// Ends the program in order, and within a deadline, on SIGINT and SIGTERM.
#pragma once

#include <chrono>
#include <cstdint>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {

/// Makes the program end in time after SIGINT or SIGTERM. While this object exists, the first such
/// signal raises a flag and starts a deadline. If the object still exists at the deadline, or if a
/// second signal arrives, the process reports that on standard error and terminates by the signal
/// (status 128 + n in a shell). This also works if real-time threads never sleep, because the
/// thread that watches the deadline is more urgent, if that is permitted.
///
/// Make it first in `main`, and destroy it when everything has stopped. Only one may exist at a
/// time.
class RCLRT_REALTIME_EXPORT StopSignal {
 public:
  /// Throws std::logic_error if a StopSignal exists already, and std::system_error.
  RCLRT_SETUP explicit StopSignal(SaturatingNanoseconds deadline = std::chrono::seconds(5));

  /// Restores the previous actions of the signals.
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

  /// Returns the first signal received; 0 if there was none.
  int signal() const noexcept RCLRT_NONBLOCKING;

  struct State;  ///< not for users

 private:
  State& state_;
  Thread watcher_;
};

}  // namespace rclrt::realtime
