// SPDX-License-Identifier: Apache-2.0
// Flows of a trace from the runs that store values to the runs that read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "rclrt/recorder/instance_record.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Numbers the reads of values on cause-effect chains: one flow each. A value that several chains
/// read in one run is one flow.
class SampledFlows {
 public:
  /// The flows of one run.
  struct OfRun {
    std::vector<std::uint64_t> stored{};  ///< begin at it: it stored the value
    std::vector<std::uint64_t> read{};    ///< end at it: it read the value
    std::string values{};  ///< that it read, as "chain:instance" of the runs that stored them
  };

  /// The first flow has the number `next`.
  SampledFlows(const RunResults& results, std::uint64_t next);

  /// Returns the flows of a run, and forgets them: an instance of a chain that runs a callback
  /// several times has them at the first run. Pass the runs in the order of their starts.
  OfRun take(const InstanceRecord& record);

 private:
  /// A run of a callback for an instance of a chain.
  struct Run {
    std::size_t chain{};
    std::uint64_t instance{};
    std::size_t callback{};
    auto operator<=>(const Run&) const = default;
  };

  std::map<Run, OfRun> runs_;
};

}  // namespace rclrt::recorder
