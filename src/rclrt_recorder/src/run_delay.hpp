// SPDX-License-Identifier: Apache-2.0
// The time in which a thread was ready and did not get a CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::recorder {

/// Returns the run delay in the text of /proc/PID/schedstat: its second number, in nanoseconds.
/// Returns std::nullopt if the text has another form.
std::optional<std::int64_t> parse_run_delay_ns(std::string_view schedstat) noexcept;

/// Measures the run delay of the thread that made this object, as the kernel accounts it. It grows
/// while another thread has the CPU, or while the kernel throttles real-time threads. It does not
/// grow while the machine itself stalls before it has woken the thread.
class RunDelay {
 public:
  /// Opens the file; a kernel without the accounting has none.
  RCLRT_SETUP RunDelay();
  ~RunDelay();
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  /// Returns the run delay in nanoseconds since the last call (at the first call, since
  /// construction); 0 if the kernel does not account it. Reads /proc once, which never sleeps. Only
  /// the thread that made the object may call it.
  std::int64_t added_ns() noexcept;

 private:
  std::optional<std::int64_t> read_ns() const noexcept;

  int file_;
  std::int64_t last_ns_ = 0;
};

}  // namespace rclrt::recorder
