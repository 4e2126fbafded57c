// SPDX-License-Identifier: Apache-2.0
// Statistics of measured times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// A distribution of times in nanoseconds.
struct Summary {
  std::int64_t best_ns = 0;
  double mean_ns = 0;
  std::int64_t p50_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t worst_ns = 0;
  std::size_t count = 0;

  std::int64_t jitter_ns() const { return worst_ns - best_ns; }

  bool operator==(const Summary&) const = default;
};

/// Returns a percentile of the values by nearest rank: the smallest value that at least `percent`
/// (1..100) % of the values do not exceed, which has the index ceil(percent / 100 * n) - 1. It is
/// always one of the values. Throws std::invalid_argument if there are no values or `percent` is
/// out of range.
RCLRT_RECORDER_EXPORT std::int64_t nearest_rank(std::span<const std::int64_t> ascending,
                                                std::size_t percent);

/// Summarises the values; returns std::nullopt if there are none.
RCLRT_RECORDER_EXPORT std::optional<Summary> summarise(std::vector<std::int64_t> values_ns);

}  // namespace rclrt::recorder
