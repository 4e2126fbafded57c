// SPDX-License-Identifier: Apache-2.0
// Measured latencies, and their percentiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rclrt::bench {

/// Latencies in nanoseconds, all of them: percentiles are values that were measured.
class Samples {
 public:
  void append(const std::vector<std::int64_t>& latencies_ns) {
    values_.insert(values_.end(), latencies_ns.begin(), latencies_ns.end());
  }

  std::size_t count() const { return values_.size(); }

  /// Returns a quantile in microseconds, by nearest rank: the smallest value that at least the
  /// share `share` (0 to 1) of the samples do not exceed. NaN without samples.
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
