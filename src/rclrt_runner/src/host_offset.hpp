// SPDX-License-Identifier: Apache-2.0
// The offset between CLOCK_MONOTONIC of two hosts of a run, by pings on their connection.
#pragma once

#include <cstdint>
#include <optional>

#include "rclrt/realtime/clock_offset.hpp"

namespace rclrt::runner {

/// CLOCK_MONOTONIC between two readings of CLOCK_MONOTONIC_RAW, which no program slews.
struct ClockPair {
  std::int64_t before_ns = 0;  ///< CLOCK_MONOTONIC_RAW
  std::int64_t monotonic_ns = 0;
  std::int64_t after_ns = 0;  ///< CLOCK_MONOTONIC_RAW
};

/// Reads the clocks of this host, the least interrupted of several readings.
ClockPair read_clock_pair() noexcept;

/// The offset of a host's CLOCK_MONOTONIC: its time less that of this host. Bounds of pings are
/// those of CLOCK_MONOTONIC_RAW; each answer has both clocks of the host, so that the offset
/// follows a clock that NTP slews. Not thread-safe.
class HostOffset {
 public:
  /// Takes the answer to a ping. `sent`: this host, before the ping was sent. `theirs`: the other
  /// host, when it answered. `received`: this host, after the answer came. Answers that are not
  /// possible are ignored.
  void add(const ClockPair& sent, const ClockPair& theirs, const ClockPair& received);

  /// Returns the interval of the offset. std::nullopt: there was no answer.
  std::optional<realtime::OffsetInterval> at(const ClockPair& now) const;

  std::uint64_t answers() const { return answers_; }
  /// Returns how often answers contradicted each other: a host was suspended, or its quartz drifts
  /// by more than ClockOffset::kQuartzPpm.
  std::uint64_t steps() const { return raw_.steps(); }

 private:
  realtime::ClockOffset raw_;
  /// CLOCK_MONOTONIC - CLOCK_MONOTONIC_RAW of the other host.
  std::optional<realtime::OffsetInterval> shift_;
  std::int64_t shift_at_ns_ = 0;  // by its CLOCK_MONOTONIC_RAW
  double slew_ = 0;               // of the shift between the last two answers
  std::int64_t heard_at_ns_ = 0;  // the last answer, by this host's CLOCK_MONOTONIC_RAW
  std::uint64_t answers_ = 0;
};

}  // namespace rclrt::runner
