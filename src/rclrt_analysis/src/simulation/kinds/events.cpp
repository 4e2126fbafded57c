// SPDX-License-Identifier: Apache-2.0
// One lane in order of release, and another one for timers if they have a thread of their own.
#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

Id SimulationEngine::lane_of_timers(const Callback& callback, const std::vector<Id>& lanes,
                                    std::size_t place, std::map<Id, Id>& more) {
  const SimulatedExecutor& stated = *executors_[callback.executor].stated;
  if (stated.choice.timers_thread &&
      std::holds_alternative<TimerTrigger>(callback.stated->trigger)) {
    return lane_for_some(callback, kNone, stated.top_priority - 1, 1, more);
  }
  return lanes[place];
}

constinit const SimulationEngine::Kind SimulationEngine::kEvents{
    .lanes = Lanes::kShared,
    .lane_of = &SimulationEngine::lane_of_timers,
};

}  // namespace rclrt::analysis::detail
