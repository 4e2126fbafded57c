// SPDX-License-Identifier: Apache-2.0
// A loop that uses a given CPU time.
#pragma once

#include <chrono>
#include <cstdint>

namespace rclrt::runner {

/// Burns CPU time of the calling thread, measured by the thread's own CPU clock: preemption makes
/// it take longer, but never do less.
class BusyLoop {
 public:
  /// Calibrates how many steps of the busy loop fill the time between two reads of the clock. Takes
  /// a few milliseconds.
  BusyLoop();

  /// Returns when the thread has used `amount` more CPU time; overshoots by one read of the clock,
  /// about 2 µs. Thread-safe.
  void burn(std::chrono::nanoseconds amount) const noexcept;

 private:
  static constexpr std::int64_t kLookEvery_ns = 1500;
  std::uint64_t steps_ = 0;
};

}  // namespace rclrt::runner
