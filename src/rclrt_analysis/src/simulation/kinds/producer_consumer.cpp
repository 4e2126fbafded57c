// SPDX-License-Identifier: Apache-2.0
// A scheduler thread sorts instances into a lane for each level.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

constinit const SimulationEngine::Kind SimulationEngine::kProducerConsumer{
    .lanes = Lanes::kOfLevels,
    .add_threads = &SimulationEngine::add_scheduler,
};

}  // namespace rclrt::analysis::detail
