// SPDX-License-Identifier: Apache-2.0
// Reaction times and data ages of a simulation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "rclrt/analysis/simulation.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::test {

/// Measures the time from each release of a chain to the end of the next instance that reaches its
/// end. This is how long an event right after the release waits, and how old the data of this
/// release are when they are replaced.
class Ages : public SimulationObserver {
 public:
  explicit Ages(const model::Application& application)
      : application_(application),
        last_(application.chains.size()),
        worst_(application.chains.size()) {}

  void ended(const SimulatedInstance& instance) override {
    if (instance.outcome != SimulatedOutcome::kRan) {
      return;
    }
    for (const SimulatedToken& token : instance.tokens) {
      if (application_.chains[token.chain].callbacks.back() != instance.callback) {
        continue;
      }
      std::optional<std::int64_t>& last = last_[token.chain];
      if (last) {
        worst_[token.chain] = std::max(worst_[token.chain], instance.end_ns - *last);
      }
      last = std::max(last.value_or(token.release_ns), token.release_ns);
    }
  }

  std::int64_t worst(std::size_t chain) const { return worst_[chain]; }

  /// Returns the latest time at which the release after the last one that has reached the chain's
  /// end was due.
  std::int64_t next_release(std::size_t chain) const {
    const model::Callback& first =
        application_.callbacks[application_.chains[chain].callbacks.front()];
    const std::int64_t longest = model::max_interval(first).count();
    if (last_[chain]) {
      return *last_[chain] + longest;
    }
    const auto* timer = std::get_if<model::Timer>(&first.trigger);
    return timer != nullptr ? timer->offset.count() : longest;
  }

 private:
  const model::Application& application_;
  std::vector<std::optional<std::int64_t>> last_;
  std::vector<std::int64_t> worst_;
};

}  // namespace rclrt::analysis::test
