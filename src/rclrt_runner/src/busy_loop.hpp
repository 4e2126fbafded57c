// SPDX-License-Identifier: Apache-2.0
// CPU time on demand.
#pragma once

#include <chrono>
#include <cstdint>

namespace rclrt::runner {

/// Burns CPU time of the calling thread, measured by the thread's own CPU clock: preemption makes
/// it take longer, never do less.
class BusyLoop {
 public:
  /// Calibrates how many steps of the busy loop fill the time between two looks at the clock. Takes
  /// a few milliseconds.
  BusyLoop();

  /// Returns when the thread has used `amount` more; overshoots by one look at the clock, about
  /// 2 µs. Thread-safe.
  void burn(std::chrono::nanoseconds amount) const noexcept;

 private:
  static constexpr std::int64_t kLookEvery_ns = 1500;
  std::uint64_t steps_ = 0;
};

}  // namespace rclrt::runner
