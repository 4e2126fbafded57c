// SPDX-License-Identifier: Apache-2.0
// The offset of a clock at any time of a recording, from bounds before and after that time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rclrt/realtime/clock_offset.hpp"

namespace rclrt::trace {

/// The interval of the offset between two clocks over a whole recording. Unlike
/// realtime::ClockOffset, which follows a live clock, it knows the later bounds too: at each time,
/// the interval is what all bounds leave, each grown by the drift of the two clocks between its
/// time and that one (Marzullo and Owicki, 1983). So the upper and the lower bounds are the hulls
/// of the messages of the two directions. Not thread-safe.
class OffsetHull {
 public:
  /// Two bounds that no offset satisfies, or no clock with the drift that was assumed.
  struct Contradiction {
    std::int64_t from_ns = 0;  ///< time of the earlier one
    std::int64_t to_ns = 0;    ///< time of the later one
    std::int64_t by_ns = 0;    ///< by how much the clock must have been set between them, at least
  };

  /// The interval at a time at which there is a bound.
  struct Knot {
    std::int64_t at_ns = 0;
    realtime::OffsetInterval interval;
  };

  /// `host_drift_ppm`: see realtime::ClockOffset.
  explicit OffsetHull(double host_drift_ppm) : drift_(host_drift_ppm) {}

  /// Adds a bound: at `at_ns` the offset is at least (at most) `offset_ns`. Call it before fit().
  void add_low(std::int64_t at_ns, std::int64_t offset_ns) { low_.push_back({at_ns, offset_ns}); }
  void add_high(std::int64_t at_ns, std::int64_t offset_ns) { high_.push_back({at_ns, offset_ns}); }

  std::size_t lows() const { return low_.size(); }
  std::size_t highs() const { return high_.size(); }
  /// Returns the best lower (upper) bound at the time of one of them, as if the clocks did not
  /// drift; std::nullopt: there is none.
  std::optional<std::int64_t> best_low_ns() const;
  std::optional<std::int64_t> best_high_ns() const;

  /// Fits the interval to all bounds. Both directions must have one. Returns a contradiction, at
  /// most a second after the first one, if no offset satisfies all; at() must then not be called.
  std::optional<Contradiction> fit();

  /// Returns the interval at any time. Call fit() before.
  realtime::OffsetInterval at(std::int64_t at_ns) const;

  /// Returns the interval at the time of each bound, in order of time.
  const std::vector<Knot>& knots() const { return knots_; }

  /// Returns by how much an interval grows on each side between two times.
  std::int64_t growth_ns(std::int64_t from_ns, std::int64_t to_ns) const {
    return drift_.growth_ns(from_ns, to_ns);
  }
  std::int64_t drift_ppb() const { return drift_.drift_ppb(); }

 private:
  struct Bound {
    std::int64_t at_ns = 0;
    std::int64_t offset_ns = 0;
  };
  std::optional<Contradiction> contradiction() const;
  template <typename Iterator>
  void narrow(Iterator begin, Iterator end) const;

  realtime::ClockOffset drift_;  // only for the drift
  std::vector<Bound> low_;
  std::vector<Bound> high_;
  std::vector<Knot> knots_;
};

}  // namespace rclrt::trace
