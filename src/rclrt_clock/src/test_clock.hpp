// SPDX-License-Identifier: Apache-2.0
// A clock that is wrong on purpose, for tests on one machine: its namespaces share one
// CLOCK_REALTIME.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host_clock.hpp"

namespace rclrt::clock {

/// The environment variable with the text of a TestClock.
inline constexpr const char* kTestClockVariable = "RCLRT_TEST_CLOCK";

/// Changes readings of the clocks as if this host had a clock of its own. Immutable.
class TestClock {
 public:
  /// Makes it from a text such as "offset_ms=40 drift_ppm=80@1234.5 slew_ppm=500@1236
  /// step_ms=-7@1240". The times after @ are seconds of CLOCK_MONOTONIC from which it takes effect.
  /// A drift changes all clocks, as a fast or slow quartz does; a slew, as of NTP, leaves
  /// CLOCK_MONOTONIC_RAW unchanged. An empty text changes nothing. Throws std::invalid_argument for
  /// any other text.
  explicit TestClock(std::string_view text);

  /// Returns the reading as this host would have it.
  ClockReading apply(ClockReading reading) const noexcept;

 private:
  struct Change {
    double amount = 0;  // ns, or ns per s
    std::int64_t since_ns = 0;
  };

  void add(std::string_view item);

  double offset_ns_ = 0;
  std::vector<Change> drifts_;
  std::vector<Change> slews_;
  std::vector<Change> steps_;
};

}  // namespace rclrt::clock
