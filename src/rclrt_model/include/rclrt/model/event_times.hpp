// SPDX-License-Identifier: Apache-2.0
// The release times of an event: the same in every run and every simulation.
#pragma once

#include <cstdint>
#include <string_view>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// Draws the nominal releases of an event, one after the other, from the beginning of the run. The
/// first release is at the event's offset; without a stated offset it is uniform between 0 and the
/// longest interval. The time between two releases is uniform from the shortest to the longest
/// interval. The draws depend only on the event's seed and on the callback's id, and are the same
/// on every machine.
///
/// With a period, the first nominal release is at the offset, or uniform in the first period. The
/// lateness of each release is uniform up to the jitter; a release that would be closer to the one
/// before than the shortest interval is later, but still no later than the jitter allows.
///
/// With the seed Event::kDensest, a release is at the offset and as late as it may be. Those after
/// it come as early as they may: a bunch, then a period apart. Later bunches follow. No release is
/// before the offset, unless its nominal time is a period or more after the beginning: then
/// releases on time come before it.
///
/// With another seed from kExtremes on, each draw is either the least or the greatest value, with
/// equal probability.
class RCLRT_MODEL_EXPORT EventTimes {
 public:
  /// The first one of the seeds that no file states besides Event::kDensest.
  static constexpr std::uint64_t kExtremes = std::uint64_t{1} << 63U;

  /// Throws std::invalid_argument unless 0 < min_interval <= max_interval and, with a period,
  /// period - jitter <= min_interval <= period. `id`: the id of the callback that the event
  /// triggers.
  EventTimes(const Event& event, std::string_view id);

  /// Returns the next release and advances to the one after it. Saturates at Nanoseconds::max().
  Nanoseconds next();

 private:
  std::int64_t draw(std::int64_t low, std::int64_t high);
  std::int64_t lateness();

  std::int64_t min_ns_;
  std::int64_t max_ns_;
  std::int64_t period_ns_;
  std::int64_t jitter_ns_;
  std::uint64_t bunch_;  // with Event::kDensest: releases from one late one to the next
  bool only_extremes_;
  std::uint64_t number_ = 0;     // of releases so far
  std::int64_t nominal_ns_ = 0;  // of the next release, with a period
  std::int64_t next_ns_ = 0;
  std::uint64_t state_;
};

}  // namespace rclrt::model
