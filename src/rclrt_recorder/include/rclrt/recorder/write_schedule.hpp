// SPDX-License-Identifier: Apache-2.0
// When the results of a run that goes on are written.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rclrt::recorder {

/// Decides when the results of a run that goes on are written: no more often than asked for, and so
/// that writing takes at most 2 % of the time. Times are CLOCK_MONOTONIC in nanoseconds. Not
/// thread-safe.
class WriteSchedule {
 public:
  /// How many of the latest instances results have that are written before the end.
  static constexpr std::size_t kInstances = 4'096;

  /// Makes a schedule. `every`: the least time from the start of one write to that of the next.
  explicit WriteSchedule(std::chrono::nanoseconds every) : every_ns_(every.count()) {}

  /// Sets the time of the first write.
  void begin(std::int64_t first_ns) { next_ns_ = first_ns; }

  /// Returns whether it is time for a write.
  bool is_due(std::int64_t now_ns) const { return now_ns >= next_ns_; }

  /// Notes a write with its begin and its end.
  void wrote(std::int64_t begin_ns, std::int64_t end_ns) {
    next_ns_ = begin_ns + std::max(every_ns_, kShare * (end_ns - begin_ns));
  }

 private:
  static constexpr std::int64_t kShare = 50;  // writing takes at most one part in so many

  std::int64_t every_ns_;
  std::int64_t next_ns_ = 0;
};

}  // namespace rclrt::recorder
