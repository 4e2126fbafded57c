// SPDX-License-Identifier: Apache-2.0
#include "rclrt/analysis/chain_steps.hpp"

#include <string>
#include <utility>
#include <vector>

namespace rclrt::analysis {

model::Application with_steps(model::Application application) {
  std::vector<model::Chain> steps;
  for (const model::Chain& chain : application.chains) {
    for (std::size_t length = 1; length <= chain.callbacks.size(); ++length) {
      model::Chain& step = steps.emplace_back(chain);
      step.id += "/" + std::to_string(length);
      step.callbacks.resize(length);
    }
  }
  application.chains = std::move(steps);
  return application;
}

}  // namespace rclrt::analysis
