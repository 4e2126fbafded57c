// SPDX-License-Identifier: Apache-2.0
// The distribution of any number of times, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rclrt/realtime/histogram_buckets.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/statistics.hpp"

namespace rclrt::recorder {

/// Counts times in the buckets of an HdrHistogram (realtime::HistogramBuckets), each of which is at
/// most 1/1024 of its times wide. Number, smallest, largest and sum are exact. The memory grows
/// with the spread of the times and never with their number: 8 KiB for each power of two from 2 µs
/// on that occurs, at most 304 KiB. Not thread-safe.
class RCLRT_RECORDER_EXPORT TimeDistribution {
 public:
  /// The largest time that has a bucket of its own, 39 hours; longer ones share its bucket.
  static constexpr std::int64_t kLongest_ns = (std::int64_t{1} << 47) - 1;

  TimeDistribution();

  /// Adds one time in nanoseconds. A negative one counts in the bucket of 0.
  void add(std::int64_t time_ns);

  /// Adds all times of another distribution.
  void add(const TimeDistribution& other);

  std::uint64_t count() const { return count_; }

  /// Returns the summary; std::nullopt if there are no times. Its percentiles are nearest-rank as
  /// those of summarise(), with the largest time of their bucket, at most 0.1 % above the exact
  /// value, and never above the largest time. Everything else is exact.
  std::optional<Summary> summary() const;

  /// The times from `lowest_ns` to `highest_ns`.
  struct Bucket {
    std::int64_t lowest_ns = 0;
    std::int64_t highest_ns = 0;
    std::uint64_t count = 0;
  };
  /// Returns the buckets with times, ascending.
  std::vector<Bucket> buckets() const;

  /// Returns how many counters the distribution has allocated.
  std::size_t counters() const;

 private:
  std::int64_t percentile_ns(unsigned percent) const;

  realtime::HistogramBuckets layout_;
  std::vector<std::vector<std::uint64_t>> counts_;  // blocks of kBlock counters; empty: no times
  std::uint64_t count_ = 0;
  std::int64_t best_ns_ = 0;
  std::int64_t worst_ns_ = 0;
  long double sum_ns_ = 0;  // exact on x86-64 up to 2^64 ns
};

}  // namespace rclrt::recorder
