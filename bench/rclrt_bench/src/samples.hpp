// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rclrt::bench {

/// Latencies in nanoseconds, with room reserved before the measurement.
class Samples {
 public:
  void reserve(std::size_t more) { values_.reserve(values_.size() + more); }

  /// Allocates nothing: what finds no room is not kept.
  void add(std::int64_t latency_ns) noexcept {
    if (values_.size() < values_.capacity()) {
      values_.push_back(latency_ns);
    }
  }

  std::size_t count() const { return values_.size(); }

  /// Nearest rank: the smallest value that at least `share` of the samples do not exceed, in
  /// microseconds. NaN without samples.
  double quantile_us(double share) const {
    if (values_.empty()) {
      return std::nan("");
    }
    std::vector<std::int64_t> sorted = values_;
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    const std::size_t index = rank == 0 ? 0 : rank - 1;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(index),
                     sorted.end());
    return static_cast<double>(sorted[index]) / 1000.0;
  }

 private:
  std::vector<std::int64_t> values_;
};

}  // namespace rclrt::bench
