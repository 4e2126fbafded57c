// SPDX-License-Identifier: Apache-2.0
// A lane for each level; the kernel preempts.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

constinit const SimulationEngine::Kind SimulationEngine::kPreemptive{
    .lanes = Lanes::kOfLevels,
    .worker_on_each_cpu = true,
};

}  // namespace rclrt::analysis::detail
