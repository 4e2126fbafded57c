// SPDX-License-Identifier: Apache-2.0
// The first deadline miss of each chain in a simulation, and the callbacks that never ran.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis::detail {

struct Miss {
  std::uint64_t instance = 0;
  std::int64_t release_ns = 0;
  std::int64_t end_ns = 0;
};

/// Records, for each chain, the first instance that ends after its deadline, and the worst response
/// time in proportion to the deadline. An instance of a chain ends when an instance of the last
/// callback with its token ends for the first time. Leaves out instances that are released before
/// the end of the simulation's warm-up.
class FirstMisses final : public SimulationObserver {
 public:
  explicit FirstMisses(const SimulatedSystem& system, std::int64_t warm_up_ns = 0)
      : system_(system),
        warm_up_ns_(warm_up_ns),
        ended_(system.chains.size()),
        misses_(system.chains.size()),
        closest_(system.chains.size()),
        longest_(system.chains.size()),
        has_run_(system.callbacks.size()),
        passed_(system.chains.size()) {
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      passed_[i].resize(system.chains[i].callbacks.size());
    }
  }

  void ended(const SimulatedInstance& instance) override;
  void ran(const SimulatedInterval& interval) override { has_run_[interval.callback] = true; }

  const std::optional<Miss>& miss(std::size_t chain) const { return misses_[chain]; }
  /// Returns the worst response in proportion to the deadline.
  double closest(std::size_t chain) const { return closest_[chain]; }
  /// Returns the instance with that response; all zero if none ended.
  const Miss& longest(std::size_t chain) const { return longest_[chain]; }
  /// Returns whether an instance of the callback has run, if only in part, or has taken a message.
  bool has_run(std::size_t callback) const { return has_run_[callback]; }
  /// Returns how many runs of the callback at this place of the chain have sent a message of the
  /// chain to the next place.
  std::uint64_t passed(std::size_t chain, std::size_t place) const { return passed_[chain][place]; }

 private:
  const SimulatedSystem& system_;
  std::int64_t warm_up_ns_;
  std::vector<std::unordered_set<std::uint64_t>> ended_;  // by chain: instances
  std::vector<std::optional<Miss>> misses_;
  std::vector<double> closest_;
  std::vector<Miss> longest_;                       // the instances with that response
  std::vector<bool> has_run_;                       // by callback
  std::vector<std::vector<std::uint64_t>> passed_;  // by chain and place
};

/// Records when one instance of a chain first ends.
class InstanceEnd final : public SimulationObserver {
 public:
  InstanceEnd(const SimulatedSystem& system, std::size_t chain, std::uint64_t instance)
      : last_(system.chains.at(chain).callbacks.back()), chain_(chain), instance_(instance) {}

  void ended(const SimulatedInstance& instance) override;

  std::optional<std::int64_t> response_ns() const { return response_ns_; }

 private:
  std::size_t last_;
  std::size_t chain_;
  std::uint64_t instance_;
  std::optional<std::int64_t> response_ns_;
};

}  // namespace rclrt::analysis::detail
