// SPDX-License-Identifier: Apache-2.0
// Execution times and latencies of a simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/analysis/export.hpp"

namespace rclrt::analysis {

/// Repeatable random numbers (SplitMix64, Steele, Lea and Flood 2014): the same on every platform.
class RCLRT_ANALYSIS_EXPORT SimulationRandom {
 public:
  /// Makes a source of random numbers that are the same for the same seed.
  explicit SimulationRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();

  /// Returns a number from `lowest` to `highest`, both included; `lowest <= highest`.
  std::int64_t uniform(std::int64_t lowest, std::int64_t highest);

 private:
  std::uint64_t state_;
};

/// A non-negative time in nanoseconds that may differ from use to use.
class RCLRT_ANALYSIS_EXPORT TimeDistribution {
 public:
  /// Makes a distribution that is always zero.
  TimeDistribution() = default;

  /// Makes a distribution of one fixed time. constant(), uniform(), either() and list()
  /// throw std::invalid_argument for negative times, and for an empty range or list.
  static TimeDistribution constant(std::int64_t time_ns);
  /// Makes a distribution in which all times from `lowest_ns` to `highest_ns`, both included, are
  /// equally likely.
  static TimeDistribution uniform(std::int64_t lowest_ns, std::int64_t highest_ns);
  /// Makes a distribution of these two times, which are equally likely.
  static TimeDistribution either(std::int64_t lowest_ns, std::int64_t highest_ns);
  /// Makes a distribution that returns the times of the list in turn, and starts again after the
  /// last one.
  static TimeDistribution list(std::vector<std::int64_t> times_ns);

  /// Returns the time of use number `use`, counted from 0.
  std::int64_t draw(SimulationRandom& random, std::uint64_t use) const {
    if (!times_ns_.empty()) {
      return times_ns_[static_cast<std::size_t>(use % times_ns_.size())];
    }
    if (lowest_ns_ == highest_ns_) {
      return lowest_ns_;
    }
    if (only_extremes_) {
      return random.uniform(0, 1) == 0 ? lowest_ns_ : highest_ns_;
    }
    return random.uniform(lowest_ns_, highest_ns_);
  }

  std::int64_t lowest_ns() const { return lowest_ns_; }
  std::int64_t highest_ns() const { return highest_ns_; }

 private:
  std::int64_t lowest_ns_ = 0;
  std::int64_t highest_ns_ = 0;
  bool only_extremes_ = false;
  std::vector<std::int64_t> times_ns_;  // empty unless the distribution is a list
};

}  // namespace rclrt::analysis
