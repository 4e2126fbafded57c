// SPDX-License-Identifier: Apache-2.0
// The offset of another host's clock as an interval, from messages in both directions.
#pragma once

#include <cstdint>
#include <optional>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The offset of another host's clock: its time less the local time, in nanoseconds. It is at least
/// `low_ns` and at most `high_ns`.
struct OffsetInterval {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;

  /// Returns the difference of the bounds, or the largest number if it is larger.
  std::int64_t width_ns() const noexcept RCLRT_NONBLOCKING {
    std::int64_t width = 0;
    return __builtin_sub_overflow(high_ns, low_ns, &width) ? INT64_MAX : width;
  }
  /// Returns whether the offset is within the interval, bounds included.
  bool contains(std::int64_t offset_ns) const noexcept RCLRT_NONBLOCKING {
    return low_ns <= offset_ns && offset_ns <= high_ns;
  }
};

/// How fast the other clock gains on the local one, in millionths: at least `low_ppm`, at most
/// `high_ppm`.
struct DriftInterval {
  double low_ppm = 0;
  double high_ppm = 0;
};

/// Keeps the interval of one other host's offset. A message arrives after it was sent, whatever its
/// delay was. So each message of the other host is a lower bound of the offset, and each message
/// that the other host received is an upper bound. The four stamps of a ping (sent at t1, received
/// there at t2, sent back there at t3, received at t4) therefore prove that the offset is in
/// [t3 - t4, t2 - t1], also if the delays of the two directions differ. Its middle is wrong by at
/// most half of the round-trip time (Mills, RFC 5905, section 8).
///
/// Bounds of different times are intersected. Between two times the offset changes by at most the
/// drift, so an older bound grows by it (Marzullo and Owicki, "Maintaining the time in a
/// distributed system", 1983). If no offset satisfies all bounds, a clock was set or ran faster
/// than assumed: the interval then begins again, and `steps` counts it.
///
/// A set clock that no bound contradicts is not found: call `restart` where a host knows that its
/// clock was set, or use clocks that nothing sets or slews (CLOCK_MONOTONIC_RAW). Not thread-safe.
class RCLRT_REALTIME_EXPORT ClockOffset {
 public:
  /// The frequency error of a host's clock if nothing else is known: quartz has 20 to 50
  /// millionths.
  static constexpr double kQuartzPpm = 50;
  /// The largest value of `host_drift_ppm`.
  static constexpr double kMaxDriftPpm = 100'000;

  /// The result of adding a bound.
  enum class Added : std::uint8_t {
    kConsistent,  ///< with all bounds before it
    kStep,        ///< the bounds before it are forgotten
    kImpossible,  ///< its stamps are not possible, and it is ignored
  };

  /// Makes an offset without an interval. `host_drift_ppm` is the largest frequency error of each
  /// of the two clocks, in millionths. Throws std::invalid_argument unless it is between 0 and
  /// kMaxDriftPpm.
  RCLRT_SETUP explicit ClockOffset(double host_drift_ppm = kQuartzPpm);

  /// Adds a message of the other host. `peer_sent_ns`: when it was sent, or earlier, by the other
  /// host's clock. `received_ns`: when it was received, or later, by the local clock. `at_ns`: the
  /// same time on CLOCK_MONOTONIC, by which bounds grow. Clocks are in nanoseconds since their
  /// epoch.
  Added add_received(std::int64_t peer_sent_ns, std::int64_t received_ns,
                     std::int64_t at_ns) noexcept RCLRT_NONBLOCKING;

  /// Adds a local message that the other host has received. `sent_ns`: when it was sent, or
  /// earlier, by the local clock. `peer_received_ns`: when it was received, or later, by the other
  /// host's clock. `at_ns`: the time of `sent_ns` on CLOCK_MONOTONIC.
  Added add_answered(std::int64_t sent_ns, std::int64_t peer_received_ns,
                     std::int64_t at_ns) noexcept RCLRT_NONBLOCKING;

  /// Forgets all bounds, because one of the clocks was set.
  void restart() noexcept RCLRT_NONBLOCKING;

  /// Returns the interval of the offset at a time of CLOCK_MONOTONIC, also before or between the
  /// messages. std::nullopt: there was no message in one of the directions since the last restart.
  std::optional<OffsetInterval> at(std::int64_t at_ns) const noexcept RCLRT_NONBLOCKING;

  /// Returns the mean drift since the first interval after the last restart. It is known to twice
  /// the width of the interval in the time since then. std::nullopt: not even to a tenth.
  std::optional<DriftInterval> drift(std::int64_t at_ns) const noexcept RCLRT_NONBLOCKING;

  /// Returns by how much the two clocks may drift apart, in 1e-9.
  std::int64_t drift_ppb() const noexcept RCLRT_NONBLOCKING { return drift_ppb_; }

  /// Returns by how much a bound grows between two times of CLOCK_MONOTONIC, in either order.
  std::int64_t growth_ns(std::int64_t from_ns, std::int64_t to_ns) const noexcept RCLRT_NONBLOCKING;

  /// Returns how often the bounds contradicted each other.
  std::uint64_t steps() const noexcept RCLRT_NONBLOCKING { return steps_; }

 private:
  struct Bound {
    std::int64_t offset_ns = 0;
    std::int64_t at_ns = 0;
  };
  struct Anchor {
    OffsetInterval interval;
    std::int64_t at_ns = 0;
  };

  Added check(const Bound& newest, bool is_low) noexcept RCLRT_NONBLOCKING;

  std::int64_t drift_ppb_;  // of the two clocks against each other, in 1e-9
  // All bounds grow alike, so the best one remains the best one at all later times.
  std::optional<Bound> low_;
  std::optional<Bound> high_;
  std::optional<Anchor> anchor_;  // the first interval since the last restart
  std::uint64_t steps_ = 0;
};

}  // namespace rclrt::realtime
