// SPDX-License-Identifier: Apache-2.0
#include "rclrt/recorder/statistics.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace rclrt::recorder {

std::int64_t nearest_rank(std::span<const std::int64_t> ascending, std::size_t percent) {
  if (ascending.empty()) {
    throw std::invalid_argument("no percentile of nothing");
  }
  if (percent < 1 || percent > 100) {
    throw std::invalid_argument("a percentile must be from 1 to 100, not " +
                                std::to_string(percent));
  }
  // In integers: 0.99 * n would round to the wrong side for some n.
  const std::size_t rank = (percent * ascending.size() + 99) / 100;
  return ascending[rank - 1];
}

std::optional<Summary> summarise(std::vector<std::int64_t> values_ns) {
  if (values_ns.empty()) {
    return std::nullopt;
  }
  std::sort(values_ns.begin(), values_ns.end());
  // long double: the sum of many large times fits, exactly on x86-64.
  const auto sum = std::accumulate(values_ns.begin(), values_ns.end(), 0.0L);
  return Summary{.best_ns = values_ns.front(),
                 .mean_ns = static_cast<double>(sum / static_cast<long double>(values_ns.size())),
                 .p50_ns = nearest_rank(values_ns, 50),
                 .p99_ns = nearest_rank(values_ns, 99),
                 .worst_ns = values_ns.back(),
                 .count = values_ns.size()};
}

}  // namespace rclrt::recorder
