// SPDX-License-Identifier: Apache-2.0
// The worst instances of each chain of a run that streams, with what ran meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "miss_explainer.hpp"
#include "rclrt/recorder/chain_accounting.hpp"
#include "rclrt/recorder/chain_misses.hpp"
#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/run_stream.hpp"

namespace rclrt::recorder {

/// A kept instance of a chain. The records of `miss` are indices into `around`.
struct WorstInstance {
  ChainInstance instance;
  std::vector<LoggedInstance> around;
  std::optional<ChainMiss> miss;
};

/// Keeps StreamLimits::kWorst instances of each chain that never ended although they should have,
/// and as many that took longest; of equal ones, the first. Copyable.
class WorstInstances {
 public:
  /// `around`: the most instances of callbacks that are kept with each.
  WorstInstances(std::size_t chains, std::size_t around) : around_(around), worst_(chains) {}

  /// Takes over chains that were added behind the others.
  void grow(std::size_t chains, std::size_t around) {
    worst_.resize(chains);
    around_ = around;
  }

  /// Takes the instances of each chain that were settled, and keeps the worst. `records` are the
  /// latest instances of callbacks, about in the order of their ends.
  void take(const std::vector<std::vector<ChainInstance>>& settled,
            std::span<const LoggedInstance> records, const MissExplainer& explainer);

  /// Returns the kept instances by chain: first those that never ended, then the longest.
  const std::vector<std::vector<WorstInstance>>& kept() const { return worst_; }

  /// Returns the number of kept instances of callbacks.
  std::size_t records() const;

 private:
  std::vector<ChainInstance> candidates(std::size_t chain,
                                        std::span<const ChainInstance> settled) const;
  WorstInstance with_records(const ChainInstance& instance, std::span<const LoggedInstance> records,
                             const ChainMiss* miss) const;

  std::size_t around_;
  std::vector<std::vector<WorstInstance>> worst_;  // by chain
};

}  // namespace rclrt::recorder
