// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/time_distribution.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace rclrt::analysis {

namespace {

void require_not_negative(std::int64_t time_ns) {
  if (time_ns < 0) {
    throw std::invalid_argument("a time of a simulation must not be negative, not " +
                                std::to_string(time_ns) + " ns");
  }
}

}  // namespace

std::uint64_t SimulationRandom::next() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::int64_t SimulationRandom::uniform(std::int64_t lowest, std::int64_t highest) {
  const std::uint64_t count =
      static_cast<std::uint64_t>(highest) - static_cast<std::uint64_t>(lowest) + 1;
  if (count == 0) {
    return static_cast<std::int64_t>(next());
  }
  // Lemire 2019: the upper half of a product, without the values that would favour some results.
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * count;
  if (static_cast<std::uint64_t>(product) < count) {
    const std::uint64_t excess = (0 - count) % count;
    while (static_cast<std::uint64_t>(product) < excess) {
      product = static_cast<Wide>(next()) * count;
    }
  }
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(lowest) +
                                   static_cast<std::uint64_t>(product >> 64U));
}

TimeDistribution TimeDistribution::constant(std::int64_t time_ns) {
  return uniform(time_ns, time_ns);
}

TimeDistribution TimeDistribution::uniform(std::int64_t lowest_ns, std::int64_t highest_ns) {
  require_not_negative(lowest_ns);
  if (highest_ns < lowest_ns) {
    throw std::invalid_argument("a range of times from " + std::to_string(lowest_ns) + " to " +
                                std::to_string(highest_ns) + " ns is empty");
  }
  TimeDistribution result;
  result.lowest_ns_ = lowest_ns;
  result.highest_ns_ = highest_ns;
  return result;
}

TimeDistribution TimeDistribution::either(std::int64_t lowest_ns, std::int64_t highest_ns) {
  TimeDistribution result = uniform(lowest_ns, highest_ns);
  result.only_extremes_ = true;
  return result;
}

TimeDistribution TimeDistribution::list(std::vector<std::int64_t> times_ns) {
  if (times_ns.empty()) {
    throw std::invalid_argument("a list of times needs at least one");
  }
  const auto [lowest, highest] = std::minmax_element(times_ns.begin(), times_ns.end());
  TimeDistribution result = uniform(*lowest, *highest);
  result.times_ns_ = std::move(times_ns);
  return result;
}

}  // namespace rclrt::analysis
