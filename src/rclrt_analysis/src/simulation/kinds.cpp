// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

const SimulationEngine::Kind& SimulationEngine::kind_of(ExecutorKind executor) {
  static constexpr std::array kKinds = {
      std::pair{ExecutorKind::kWaitSet, &kWaitSet},
      std::pair{ExecutorKind::kProducerConsumer, &kProducerConsumer},
      std::pair{ExecutorKind::kThreadDispatch, &kThreadDispatch},
      std::pair{ExecutorKind::kPreemptive, &kPreemptive},
      std::pair{ExecutorKind::kEdf, &kEdf},
      std::pair{ExecutorKind::kEvents, &kEvents},
      std::pair{ExecutorKind::kPicas, &kPicas},
      std::pair{ExecutorKind::kPerGroup, &kPerGroup},
      std::pair{ExecutorKind::kStaticOrder, &kStaticOrder},
      std::pair{ExecutorKind::kWorkshop, &kWorkshop},
      std::pair{ExecutorKind::kEdfNonPreemptive, &kEdfNonPreemptive},
      std::pair{ExecutorKind::kFixedPriorityNonPreemptive, &kFixedPriorityNonPreemptive},
  };
  const auto* const found =
      std::ranges::find(kKinds, executor, &std::pair<ExecutorKind, const Kind*>::first);
  if (found == kKinds.end()) {
    throw std::invalid_argument("the simulation has no such kind of executor");
  }
  return *found->second;
}

}  // namespace rclrt::analysis::detail
