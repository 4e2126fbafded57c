// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/histogram_buckets.hpp"

#include <stdexcept>
#include <string>

namespace rclrt::realtime {

namespace {

void require_valid(const HistogramRange& range) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("a histogram's " + what);
  };
  if (range.lowest < 1) {
    refuse("lowest value must be at least 1, not " + std::to_string(range.lowest));
  }
  if (range.highest / 2 < range.lowest) {
    refuse("highest value must be at least twice the lowest (" + std::to_string(range.lowest) +
           "), not " + std::to_string(range.highest));
  }
  if (range.significant_digits < 1 || range.significant_digits > 5) {
    refuse("significant digits must be 1 to 5, not " + std::to_string(range.significant_digits));
  }
}

}  // namespace

HistogramBuckets::HistogramBuckets(const HistogramRange& range) : range_(range) {
  require_valid(range);
  std::uint64_t steps = 2;  // the linear part must distinguish this many
  for (int digit = 0; digit < range.significant_digits; ++digit) {
    steps *= 10;
  }
  half_bits_ = 63 - std::countl_zero(steps - 1);
  unit_shift_ = 63 - std::countl_zero(static_cast<std::uint64_t>(range.lowest));
  if (half_bits_ + 1 + unit_shift_ > 62) {
    throw std::invalid_argument("a histogram's lowest value must be at most 2^" +
                                std::to_string(61 - half_bits_) + " for " +
                                std::to_string(range.significant_digits) +
                                " significant digits, not " + std::to_string(range.lowest));
  }
  linear_mask_ = ((std::uint64_t{2} << half_bits_) - 1) << unit_shift_;
  // Whole octaves, as the HdrHistogram implementations have them.
  const std::size_t half = std::size_t{1} << half_bits_;
  size_ = (index_of(range.highest) / half + 1) * half;
  if (size_ < 2 * half) {
    size_ = 2 * half;
  }
}

}  // namespace rclrt::realtime
