// SPDX-License-Identifier: Apache-2.0
// The highest level is next, and runs to its end.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

constinit const SimulationEngine::Kind SimulationEngine::kFixedPriorityNonPreemptive{
    .keeps_cpu = true,
    .add_threads = &SimulationEngine::add_instant_scheduler,
};

}  // namespace rclrt::analysis::detail
