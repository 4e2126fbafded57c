// SPDX-License-Identifier: Apache-2.0
#include "first_misses.hpp"

#include <algorithm>

namespace rclrt::analysis::detail {

void FirstMisses::ended(const SimulatedInstance& instance) {
  has_run_[instance.callback] = true;
  if (instance.outcome != SimulatedOutcome::kRan) {
    return;
  }
  for (const SimulatedToken& token : instance.tokens) {
    const SimulatedChain& chain = system_.chains[token.chain];
    for (std::size_t place = 0; place < chain.callbacks.size(); ++place) {
      passed_[token.chain][place] += chain.callbacks[place] == instance.callback ? 1U : 0U;
    }
    if (chain.callbacks.back() != instance.callback || token.release_ns < warm_up_ns_) {
      continue;
    }
    if (!ended_[token.chain].insert(token.instance).second) {
      continue;
    }
    const std::int64_t response_ns = instance.end_ns - token.release_ns;
    const double close = static_cast<double>(response_ns) / static_cast<double>(chain.deadline_ns);
    if (close > closest_[token.chain]) {
      closest_[token.chain] = close;
      longest_[token.chain] = {token.instance, token.release_ns, instance.end_ns};
    }
    if (response_ns > chain.deadline_ns && !misses_[token.chain]) {
      misses_[token.chain] = Miss{token.instance, token.release_ns, instance.end_ns};
    }
  }
}

void InstanceEnd::ended(const SimulatedInstance& instance) {
  if (response_ns_ || instance.callback != last_ || instance.outcome != SimulatedOutcome::kRan) {
    return;
  }
  for (const SimulatedToken& token : instance.tokens) {
    if (token.chain == chain_ && token.instance == instance_) {
      response_ns_ = instance.end_ns - token.release_ns;
    }
  }
}

}  // namespace rclrt::analysis::detail
