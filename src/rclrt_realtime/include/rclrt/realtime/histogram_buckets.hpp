// SPDX-License-Identifier: Apache-2.0
// Which bucket a value falls into: the log-linear layout of HdrHistogram.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The range of values of a histogram, and their resolution. The user chooses the unit; rclrt
/// records nanoseconds, and the defaults are 1 ns to 1 h.
struct HistogramRange {
  std::int64_t lowest = 1;                   ///< smallest value distinguished from 0; at least 1
  std::int64_t highest = 3'600'000'000'000;  ///< largest value; at least twice the lowest
  int significant_digits = 3;                ///< 1 to 5; 3: a value is known to 0.1 %

  bool operator==(const HistogramRange&) const = default;
};

/// Maps values to bucket indexes and back (G. Tene, HdrHistogram). The first 2^(m+1) buckets are as
/// wide as the lowest value; from there on every 2^m buckets are twice as wide as those before,
/// with the smallest m for which 2^(m+1) >= 2 × 10^digits. Pure arithmetic, immutable.
class RCLRT_REALTIME_EXPORT HistogramBuckets {
 public:
  /// Throws std::invalid_argument that states the valid range.
  RCLRT_SETUP explicit HistogramBuckets(const HistogramRange& range);

  const HistogramRange& range() const noexcept RCLRT_NONBLOCKING { return range_; }

  /// Returns the number of buckets: 33 792 for the default range.
  std::size_t size() const noexcept RCLRT_NONBLOCKING { return size_; }

  /// Returns the bucket of `value`, which must lie between 0 and the range's highest.
  std::size_t index_of(std::int64_t value) const noexcept RCLRT_NONBLOCKING {
    const auto bits = static_cast<std::uint64_t>(value);
    const int shift = 63 - std::countl_zero(bits | linear_mask_) - half_bits_;
    return (static_cast<std::size_t>(shift - unit_shift_) << half_bits_) +
           static_cast<std::size_t>(bits >> shift);
  }

  /// Returns the smallest value of bucket `index`, which must be less than `size()`.
  std::int64_t lowest_in(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    const std::size_t half = std::size_t{1} << half_bits_;
    const std::size_t position = index < half ? index : (index & (half - 1)) + half;
    return static_cast<std::int64_t>(position << shift_of(index));
  }

  /// Returns the largest value of bucket `index`.
  std::int64_t highest_in(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    return lowest_in(index) + (width_of(index) - 1);
  }

  /// Returns the value that represents bucket `index` in means and deviations: its middle.
  std::int64_t middle_of(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    return lowest_in(index) + width_of(index) / 2;
  }

 private:
  int shift_of(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    const auto octave = static_cast<int>(index >> half_bits_);
    return unit_shift_ + (octave == 0 ? 0 : octave - 1);
  }
  std::int64_t width_of(std::size_t index) const noexcept RCLRT_NONBLOCKING {
    return std::int64_t{1} << shift_of(index);
  }

  HistogramRange range_;
  std::uint64_t linear_mask_ = 0;  ///< the bits of a value in the first, linear 2^(m+1) buckets
  int half_bits_ = 0;              ///< m
  int unit_shift_ = 0;             ///< log2 of the narrowest bucket
  std::size_t size_ = 0;
};

}  // namespace rclrt::realtime
