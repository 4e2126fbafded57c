// SPDX-License-Identifier: Apache-2.0
// How many sets synchronisers form on several CPUs.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "bounds/global_system.hpp"

namespace rclrt::analysis::detail {

/// Finds the publishers of a sync's inputs, which belong to sources that are known already.
void GlobalSystem::find_inputs(GlobalSource& source) const {
  const auto* const sync =
      std::get_if<model::Sync>(&workload.application.callbacks[source.callback].trigger);
  if (sync == nullptr) {
    return;
  }
  source.depth = static_cast<Ticks>(sync->depth);
  for (const auto& input : workload.graph.publishers[source.callback]) {
    std::vector<GlobalPublisher>& found = source.inputs.emplace_back();
    for (std::size_t other = 0; other < sources.size(); ++other) {
      const std::vector<GlobalNode>& nodes = sources[other].nodes;
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].is_message || std::ranges::find(input, nodes[i].callback) == input.end()) {
          continue;
        }
        const auto message = std::ranges::find_if(nodes, [&](const GlobalNode& each) {
          return each.is_message && each.callback == source.callback;
        });
        found.push_back({other, i, static_cast<std::size_t>(message - nodes.begin())});
      }
    }
  }
}

Ticks GlobalSystem::instances(std::size_t source, Ticks x, Ticks response) const {
  const GlobalSource& own = sources[source];
  const Ticks result = own.instances(x, response);
  const bool counts = !own.inputs.empty() && response < kHorizon;
  const auto ready = counts ? ready_after_stamp(own) : std::nullopt;
  if (!ready) {
    return result;
  }
  // A set that was formed before that has ended: it takes this time from when it is ready.
  return std::min(result, formed(source, sum(x, std::max<Ticks>(0, response - *ready))));
}

/// A set is formed when the last one of its messages is taken, and that message is the last one of
/// its input to arrive, whatever the stamps. So the queue of that input is empty then, and each
/// later set has a message of it that is taken after that. And each input has a message for each
/// set: one that is taken within this time, or one of those that had waited.
Ticks GlobalSystem::formed(std::size_t source, Ticks x) const {
  Ticks most = 0;
  Ticks result = kHorizon;
  for (const std::vector<GlobalPublisher>& input : sources[source].inputs) {
    Ticks taken = 0;
    for (const GlobalPublisher& each : input) {
      const std::vector<GlobalNode>& nodes = sources[each.source].nodes;
      const Ticks latest = nodes[each.message].response;
      const Ticks runs = latest < kHorizon ? instances(each.source, x, latest) : kHorizon;
      taken = sum(taken, product(runs, nodes[each.node].count));
    }
    most = std::max(most, taken);
    result = std::min(result, sum(taken, sources[source].depth));
  }
  return std::min(result, sum(most, 1));
}

void GlobalSystem::mark_sources(std::size_t source, std::vector<bool>& marked) const {
  marked[source] = true;
  for (const std::vector<GlobalPublisher>& input : sources[source].inputs) {
    for (const GlobalPublisher& each : input) {
      mark_sources(each.source, marked);
    }
  }
}

}  // namespace rclrt::analysis::detail
