// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {

using model::ExecutorKind;

const KindBounds& bounds_of(ExecutorKind executor) {
  static constexpr std::array kKinds = {
      std::pair{ExecutorKind::kWaitSet, &kinds::kWaitSet},
      std::pair{ExecutorKind::kProducerConsumer, &kinds::kProducerConsumer},
      std::pair{ExecutorKind::kThreadDispatch, &kinds::kThreadDispatch},
      std::pair{ExecutorKind::kPreemptive, &kinds::kPreemptive},
      std::pair{ExecutorKind::kEdf, &kinds::kEdf},
      std::pair{ExecutorKind::kEvents, &kinds::kEvents},
      std::pair{ExecutorKind::kPicas, &kinds::kPicas},
      std::pair{ExecutorKind::kPerGroup, &kinds::kPerGroup},
      std::pair{ExecutorKind::kStaticOrder, &kinds::kStaticOrder},
      std::pair{ExecutorKind::kWorkshop, &kinds::kWorkshop},
  };
  const auto* const found =
      std::ranges::find(kKinds, executor, &std::pair<ExecutorKind, const KindBounds*>::first);
  if (found == kKinds.end()) {
    throw std::invalid_argument("no bounds are offered for chains under the executor " +
                                std::string(traits(executor).name));
  }
  return *found->second;
}

}  // namespace rclrt::analysis::detail
