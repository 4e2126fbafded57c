// SPDX-License-Identifier: Apache-2.0
// One lane for all levels, by level.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

void SimulationEngine::rank_by_level(Id executor) {
  for (const Id entity : by_level(executor)) {
    entities_[entity].rank = callbacks_[entities_[entity].callback].stated->level;
  }
}

constinit const SimulationEngine::Kind SimulationEngine::kPicas{
    .lanes = Lanes::kShared,
    .complete = &SimulationEngine::rank_by_level,
};

}  // namespace rclrt::analysis::detail
