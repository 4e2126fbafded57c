// SPDX-License-Identifier: Apache-2.0
// The reaction times and data ages of cause-effect chains in a simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rclrt/analysis/counter_example.hpp"
#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/application.hpp"
#include "rclrt/model/cause_effect_times.hpp"

namespace rclrt::analysis::detail {

/// A reaction or an age of a cause-effect chain.
struct OutputTime {
  Limit limit{};
  std::uint64_t instance{};  ///< of the last segment's chain; 0 for a reaction that never comes
  std::int64_t from_ns{};    ///< the release of the data, or the time of what is reacted to
  std::int64_t end_ns{};     ///< of the output; if the reaction never comes, of the simulation
  bool never_comes = false;
  std::int64_t length_ns() const { return end_ns - from_ns; }
};

/// The times of one cause-effect chain.
struct OutputTimes {
  std::optional<OutputTime> worst_reaction;
  std::optional<OutputTime> worst_age;
  std::optional<OutputTime> first_miss;  ///< the first output with a time above its limit
};

/// Records the outputs of all cause-effect chains. Keeps a reference to the application.
class Outputs final : public SimulationObserver {
 public:
  explicit Outputs(const model::Application& application);

  void ended(const SimulatedInstance& instance) override;

  /// Returns the times of each cause-effect chain in a simulation up to `end_ns`. A reaction that
  /// has not come by then counts as one that comes then.
  std::vector<OutputTimes> times(std::int64_t end_ns) const;

  /// Returns the number of runs that were recorded, one for each segment of each run.
  std::uint64_t recorded() const { return recorded_; }

 private:
  const model::Application& application_;
  model::CauseEffectTimes times_;
  std::uint64_t recorded_ = 0;
};

}  // namespace rclrt::analysis::detail
