// SPDX-License-Identifier: Apache-2.0
// A loop that uses a given CPU time.
#pragma once

#include <chrono>
#include <cstdint>

namespace rclrt::runner {

/// Uses a stated amount of CPU time on the calling thread, measured by the thread's own CPU clock.
/// If the thread is preempted, it takes longer, but never computes less.
class BusyLoop {
 public:
  /// Measures how many steps of the busy loop fill the time between two reads of the clock. Takes a
  /// few milliseconds.
  BusyLoop();

  /// Computes until the calling thread has used `amount` more CPU time, and then returns. Takes up
  /// to one read of the clock longer, about 2 µs. Thread-safe.
  void burn(std::chrono::nanoseconds amount) const noexcept;

 private:
  static constexpr std::int64_t kLookEvery_ns = 1500;
  std::uint64_t steps_ = 0;
};

}  // namespace rclrt::runner
