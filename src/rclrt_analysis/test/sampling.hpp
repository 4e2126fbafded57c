// SPDX-License-Identifier: Apache-2.0
// Reaction times and data ages of simulations, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/cause_effect_times.hpp"

namespace rclrt::analysis::test {

/// Passes the instances of a simulation to model::CauseEffectTimes.
class Sampled final : public SimulationObserver {
 public:
  explicit Sampled(const model::Application& application) : times_(application) {}

  void ended(const SimulatedInstance& instance) override {
    if (instance.outcome != SimulatedOutcome::kRan) {
      return;
    }
    for (const SimulatedToken& token : instance.tokens) {
      times_.add({.callback = instance.callback,
                  .chain = token.chain,
                  .instance = token.instance,
                  .release = model::Nanoseconds(token.release_ns),
                  .start = model::Nanoseconds(instance.start_ns),
                  .end = model::Nanoseconds(instance.end_ns)});
    }
  }

  /// Returns the outputs of each cause-effect chain.
  std::vector<model::CauseEffectOutputs> outputs() const { return times_.outputs(); }

 private:
  model::CauseEffectTimes times_;
};

inline std::int64_t worst_age(const model::CauseEffectOutputs& found) {
  std::int64_t worst = 0;
  for (const model::CauseEffectOutput& output : found.outputs) {
    worst = std::max(worst, output.age().count());
  }
  return worst;
}

inline std::int64_t worst_reaction(const model::CauseEffectOutputs& found) {
  std::int64_t worst = 0;
  for (const model::CauseEffectOutput& output : found.outputs) {
    worst = std::max(worst, output.reaction.value_or(model::Nanoseconds(0)).count());
  }
  return worst;
}

}  // namespace rclrt::analysis::test
