// SPDX-License-Identifier: Apache-2.0
// A thread for each group, at the highest level of its callbacks.
#include <algorithm>
#include <map>

#include "simulation/engine.hpp"

namespace rclrt::analysis::detail {

void SimulationEngine::raise_to_groups(Id executor, std::vector<int>& levels) const {
  std::map<Id, int> highest;
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].executor == executor) {
      int& own = highest.try_emplace(callbacks_[i].group, levels[i]).first->second;
      own = std::max(own, levels[i]);
    }
  }
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    const auto found = highest.find(callbacks_[i].group);
    levels[i] = found != highest.end() ? found->second : levels[i];
  }
}

Id SimulationEngine::lane_of_group(const Callback& callback, const std::vector<Id>& lanes,
                                   std::size_t place, std::map<Id, Id>& more) {
  const SimulatedExecutor& stated = *executors_[callback.executor].stated;
  const auto below = static_cast<Key>(lanes.size() - place);
  return lane_for_some(callback, callback.group, stated.top_priority - below, more.size(), more);
}

constinit const SimulationEngine::Kind SimulationEngine::kPerGroup{
    .set_thread_levels = &SimulationEngine::raise_to_groups,
    .lane_of = &SimulationEngine::lane_of_group,
};

}  // namespace rclrt::analysis::detail
