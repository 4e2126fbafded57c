// SPDX-License-Identifier: Apache-2.0
// Explains the worst misses of a run with what is known of its executors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rclrt/recorder/chain_misses.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Explains the worst misses of the chains of one run.
class MissExplainer {
 public:
  /// How many misses of each chain are explained.
  static constexpr std::size_t kMissesPerChain = 10;

  /// Reads the application, the executor and the kernel priorities of `results`, which must outlive
  /// this object. `cpus`: CPUs of an executor that states none.
  MissExplainer(const RunResults& results, std::size_t cpus);

  /// Explains the worst misses of each chain with the instances in `records`.
  std::vector<ChainMiss> explain(std::span<const ChainResult> chains,
                                 std::span<const InstanceRecord> records) const;

 private:
  const RunResults& results_;
  std::vector<int> priorities_;
  std::vector<std::int64_t> deadlines_;
  std::size_t cpus_;
};

}  // namespace rclrt::recorder
