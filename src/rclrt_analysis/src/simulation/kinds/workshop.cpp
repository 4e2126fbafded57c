// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take the levels of what they run. Simulated as a lane for each level:
// overheads are part of the work above all levels.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

constinit const SimulationEngine::Kind SimulationEngine::kWorkshop{
    .lanes = Lanes::kOfLevels,
    .worker_on_each_cpu = true,
};

}  // namespace rclrt::analysis::detail
