// SPDX-License-Identifier: Apache-2.0
// Counts of values in log-linear buckets: percentiles of any number of samples in fixed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/histogram_buckets.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A histogram that threads record into while others read it. Its memory (264 KiB for the default
/// range) is allocated and touched at construction and never grows.
///
/// No sample is lost: one above the range counts as the range's highest value and in
/// `above_range()`, a negative one as 0 and in `below_range()`.
///
/// Results (count, percentiles, mean) have the resolution of the buckets: `significant_digits`
/// decimal digits. Reading one takes one pass over the buckets, some 10 µs.
///
/// Readers never write and writers never wait. A reader reads the buckets one after another. It
/// sees every sample recorded before the reading began (in the sense of happens-before), and may
/// see a sample recorded during the reading. For figures that belong together (a percentile with
/// its sample count), read a copy. For intervals, copy regularly and subtract the previous copy:
///
///     Histogram now(live);           // the thread continues to record
///     Histogram interval(now);
///     interval.subtract(before);
///
/// Memory order: each bucket is an independent counter that orders nothing else, so relaxed is
/// enough.
class RCLRT_REALTIME_EXPORT Histogram {
 public:
  /// Throws std::invalid_argument for an invalid range, and std::bad_alloc.
  RCLRT_SETUP explicit Histogram(const HistogramRange& range = {});

  /// Makes a snapshot: the copy does not change while other threads go on recording into `other`.
  RCLRT_SETUP Histogram(const Histogram& other);
  /// Moves the samples from `other`; after that, `other` may only be destroyed or assigned to. No
  /// other thread may use either object meanwhile.
  RCLRT_SETUP Histogram(Histogram&& other) noexcept;
  RCLRT_SETUP Histogram& operator=(Histogram&& other) noexcept;
  ~Histogram() = default;

  const HistogramBuckets& buckets() const noexcept RCLRT_NONBLOCKING { return buckets_; }

  /// Counts `samples` samples of the same value. Any number of threads may record at the same time.
  /// Wait-free: an atomic increment.
  void record(std::int64_t value, std::uint64_t samples = 1) noexcept RCLRT_NONBLOCKING {
    count_of(value, samples).fetch_add(samples, std::memory_order_relaxed);
  }

  /// Counts one sample without a locked instruction, if only one thread records into this
  /// histogram. Other threads may read it at the same time.
  void record_alone(std::int64_t value) noexcept RCLRT_NONBLOCKING {
    std::atomic<std::uint64_t>& count = count_of(value, 1);
    // No other thread writes it, so no write comes between the load and the store.
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Adds all samples of `other`. If the two ranges differ, each sample of `other` counts as the
  /// smallest value of its bucket. Thread-safe, as `record`.
  void add(const Histogram& other) noexcept RCLRT_NONBLOCKING;

  /// Subtracts the samples of `earlier`, a previous copy of this histogram, so that the samples
  /// recorded since then remain. No thread may record into this histogram meanwhile. Throws
  /// std::invalid_argument if the ranges differ or a bucket of `earlier` has more samples.
  RCLRT_SETUP void subtract(const Histogram& earlier);

  /// Removes all samples. No thread may record meanwhile.
  void reset() noexcept RCLRT_NONBLOCKING;

  /// Returns the number of samples, those out of range included.
  std::uint64_t count() const noexcept RCLRT_NONBLOCKING;
  std::uint64_t below_range() const noexcept RCLRT_NONBLOCKING;
  std::uint64_t above_range() const noexcept RCLRT_NONBLOCKING;

  /// Returns the smallest value of the first bucket with a sample; 0 without samples. (`max`
  /// returns the largest value of the last bucket with a sample.)
  std::int64_t min() const noexcept RCLRT_NONBLOCKING;
  std::int64_t max() const noexcept RCLRT_NONBLOCKING;

  /// Returns a percentile by nearest rank: the largest value of the bucket with the sample of rank
  /// ceil(percent/100 × count). At least `percent` % of the samples are not above it. Returns
  /// `min()` for percent <= 0, `max()` for percent >= 100, and 0 without samples.
  std::int64_t percentile(double percent) const noexcept RCLRT_NONBLOCKING;

  /// Returns the mean; `standard_deviation` returns that of the population. Each sample counts as
  /// the middle of its bucket. Both are 0 without samples.
  double mean() const noexcept RCLRT_NONBLOCKING;
  double standard_deviation() const noexcept RCLRT_NONBLOCKING;

  /// Returns the number of samples in bucket `index` of `buckets()`.
  std::uint64_t count_in(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    return counts_[index].load(std::memory_order_relaxed);
  }

 private:
  /// Returns the counter of `value`. Counts and clamps a value that is out of range.
  std::atomic<std::uint64_t>& count_of(std::int64_t value,
                                       std::uint64_t samples) noexcept RCLRT_NONBLOCKING {
    // relaxed: independent counts, which order nothing
    if (value < 0) [[unlikely]] {
      below_range_.fetch_add(samples, std::memory_order_relaxed);
      value = 0;
    } else if (value > buckets_.range().highest) [[unlikely]] {
      above_range_.fetch_add(samples, std::memory_order_relaxed);  // as above
      value = buckets_.range().highest;
    }
    return counts_[buckets_.index_of(value)];
  }

  HistogramBuckets buckets_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> counts_;
  std::atomic<std::uint64_t> below_range_{0};
  std::atomic<std::uint64_t> above_range_{0};
};

}  // namespace rclrt::realtime
