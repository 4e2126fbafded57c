// SPDX-License-Identifier: Apache-2.0
// The clock of this host, the only place of this package where clocks are read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace rclrt::clock {

/// CLOCK_REALTIME between two readings of CLOCK_MONOTONIC, in nanoseconds.
struct ClockReading {
  std::int64_t before_ns = 0;
  std::int64_t realtime_ns = 0;
  std::int64_t after_ns = 0;
};

/// Reads the clocks of this machine. Thread-safe.
ClockReading read_clocks() noexcept;

/// A time of this host.
struct HostTime {
  std::int64_t realtime_ns = 0;
  std::int64_t monotonic_ns = 0;
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

  /// Returns by how much the clock was set the last time; 0: not yet.
  std::int64_t last_set_ns() const noexcept { return last_set_ns_; }

 private:
  struct Difference {  // CLOCK_REALTIME - CLOCK_MONOTONIC
    std::int64_t low_ns = 0;
    std::int64_t high_ns = 0;
  };

  const std::function<ClockReading()> read_;
  std::optional<Difference> difference_;  // since the clock was set the last time
  std::uint64_t sets_ = 0;
  std::int64_t last_set_ns_ = 0;
};

}  // namespace rclrt::clock
