// SPDX-License-Identifier: Apache-2.0
// A scheduler thread starts a thread for each instance.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

constinit const SimulationEngine::Kind SimulationEngine::kThreadDispatch{
    .add_threads = &SimulationEngine::add_scheduler,
};

}  // namespace rclrt::analysis::detail
