// SPDX-License-Identifier: Apache-2.0
// How long a thread was ready and did not get a CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::recorder {

/// The second number of /proc/PID/schedstat, in ns; nothing when the text is of another form.
std::optional<std::int64_t> parse_run_delay_ns(std::string_view schedstat) noexcept;

/// The run delay of the thread that made this object, as the kernel accounts it. It grows while
/// another thread has the CPU, or while the kernel holds real-time threads back; not while the
/// machine itself stands still before it has woken the thread.
class RunDelay {
 public:
  /// Opens the file; a kernel without the accounting has none.
  RCLRT_SETUP RunDelay();
  ~RunDelay();
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  /// What was added since the last call (since construction, the first time); 0 where the kernel
  /// does not account for it. One read of /proc, which never sleeps. Of the same thread only.
  std::int64_t added_ns() noexcept;

 private:
  std::optional<std::int64_t> read_ns() const noexcept;

  int file_;
  std::int64_t last_ns_ = 0;
};

}  // namespace rclrt::recorder
