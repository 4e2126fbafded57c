// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take the levels of what they run. Simulated as a lane for each level, and
// the idle threads as threads above all levels: each instance wakes one of them, for as long as a
// dispatch takes.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

/// Adds as many idle threads as can run at a time, if a dispatch takes time.
void SimulationEngine::add_idle_threads(Id index) {
  const Executor& executor = executors_[index];
  if (executor.stated->dispatch_ns > 0) {
    const auto cpus = static_cast<unsigned>(__builtin_popcountll(executor.cpus));
    add_handling_threads(index, cpus, executor.stated->dispatch_ns);
  }
}

constinit const SimulationEngine::Kind SimulationEngine::kWorkshop{
    .lanes = Lanes::kOfLevels,
    .worker_on_each_cpu = true,
    .add_threads = &SimulationEngine::add_idle_threads,
};

}  // namespace rclrt::analysis::detail
