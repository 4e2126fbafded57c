// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_steps.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rclrt::analysis {

model::Application with_steps(model::Application application) {
  std::vector<model::Chain> steps;
  std::vector<std::size_t> whole;  // for each chain: the step that is all of it
  for (const model::Chain& chain : application.chains) {
    whole.push_back(steps.size() + chain.callbacks.size() - 1);
    for (std::size_t length = 1; length <= chain.callbacks.size(); ++length) {
      model::Chain& step = steps.emplace_back(chain);
      step.id += "/" + std::to_string(length);
      step.callbacks.resize(length);
    }
  }
  application.chains = std::move(steps);
  for (model::CauseEffectChain& chain : application.cause_effect_chains) {
    for (model::Segment& segment : chain.segments) {
      segment.chain = whole.at(segment.chain);
    }
  }
  return application;
}

}  // namespace rclrt::analysis
