// SPDX-License-Identifier: Apache-2.0
// The earliest absolute deadline is next, and runs to its end.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

constinit const SimulationEngine::Kind SimulationEngine::kEdfNonPreemptive{
    .keeps_cpu = true,
    .add_threads = &SimulationEngine::add_instant_scheduler,
};

}  // namespace rclrt::analysis::detail
