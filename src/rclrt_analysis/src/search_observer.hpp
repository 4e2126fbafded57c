// SPDX-License-Identifier: Apache-2.0
// What a search of schedules keeps of one simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "first_misses.hpp"
#include "output_times.hpp"
#include "rclrt/analysis/simulation.hpp"

namespace rclrt::analysis::detail {

/// Observes one simulation of the search.
class Observed final : public SimulationObserver {
 public:
  /// Leaves out cause-effect chains if `samples` is false: they take more time.
  Observed(const model::Application& application, const SimulatedSystem& system, bool samples,
           std::int64_t warm_up_ns)
      : misses_(system, warm_up_ns) {
    if (samples) {
      outputs_.emplace(application);
    }
  }

  void ended(const SimulatedInstance& instance) override {
    misses_.ended(instance);
    if (outputs_) {
      outputs_->ended(instance);
    }
  }
  void ran(const SimulatedInterval& interval) override { misses_.ran(interval); }

  const FirstMisses& misses() const { return misses_; }
  std::uint64_t recorded() const { return outputs_ ? outputs_->recorded() : 0; }
  /// Returns the times of each cause-effect chain, or none if these are left out.
  std::vector<OutputTimes> output_times(std::int64_t end_ns) const {
    return outputs_ ? outputs_->times(end_ns) : std::vector<OutputTimes>();
  }

 private:
  FirstMisses misses_;
  std::optional<Outputs> outputs_;
};

}  // namespace rclrt::analysis::detail
