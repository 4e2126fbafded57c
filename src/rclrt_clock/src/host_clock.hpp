// SPDX-License-Identifier: Apache-2.0
// The clock of this host, the only place of this package where clocks are read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace rclrt::clock {

/// CLOCK_MONOTONIC and CLOCK_REALTIME between two readings of CLOCK_MONOTONIC_RAW, in nanoseconds.
struct ClockReading {
  std::int64_t before_ns = 0;  ///< CLOCK_MONOTONIC_RAW
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
  std::int64_t after_ns = 0;  ///< CLOCK_MONOTONIC_RAW
};

/// Reads the clocks of this machine. Thread-safe.
ClockReading read_clocks() noexcept;

/// A time of this host. CLOCK_MONOTONIC_RAW is `raw_ns`, or up to `reading_ns` more, when the other
/// clocks show it.
struct HostTime {
  std::int64_t realtime_ns = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t raw_ns = 0;
  std::int64_t reading_ns = 0;
  std::uint64_t sets = 0;  ///< how often CLOCK_REALTIME had been set until then
};

/// Reads the clock of this host, and finds out when it was set. The kernel corrects the rate of
/// CLOCK_REALTIME and of CLOCK_MONOTONIC alike, so their difference changes only when the clock is
/// set, or after a suspend. A change of less than 1 µs more than a reading takes is not found. Not
/// thread-safe.
class HostClock {
 public:
  /// `read` replaces read_clocks in tests.
  explicit HostClock(std::function<ClockReading()> read = read_clocks) : read_(std::move(read)) {}

  /// Returns the time, with the least interrupted of several readings.
  HostTime now();

 private:
  struct Difference {  // CLOCK_REALTIME - CLOCK_MONOTONIC
    std::int64_t low_ns = 0;
    std::int64_t high_ns = 0;
  };

  const std::function<ClockReading()> read_;
  std::optional<Difference> difference_;  // since the clock was set the last time
  std::uint64_t sets_ = 0;
};

}  // namespace rclrt::clock
