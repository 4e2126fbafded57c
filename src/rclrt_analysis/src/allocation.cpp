// SPDX-License-Identifier: Apache-2.0
#include "allocation.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>

namespace rclrt::analysis::detail {
namespace {

using model::Application;

/// Returns, for each node, the number of the group of nodes that topics connect, directly or
/// through other nodes: the smallest index of a node in the group.
std::vector<std::size_t> components(const Application& application) {
  std::vector<std::size_t> parent(application.nodes.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t node) {
    while (parent[node] != node) {
      node = parent[node] = parent[parent[node]];
    }
    return node;
  };
  std::map<std::string, std::size_t> user;  // one node of each topic
  const auto join = [&](const std::string& topic, std::size_t node) {
    const auto [other, is_new] = user.try_emplace(topic, node);
    if (is_new) {
      return;
    }
    const auto [low, high] = std::minmax({root(node), root(other->second)});
    parent[high] = low;
  };
  for (const model::Callback& callback : application.callbacks) {
    for (const std::string& topic : model::inputs(callback)) {
      join(topic, callback.node);
    }
    for (const std::string& topic : callback.publishes) {
      join(topic, callback.node);
    }
  }
  for (std::size_t node = 0; node < parent.size(); ++node) {
    parent[node] = root(node);
  }
  return parent;
}

/// Returns the load of each unit, in cores.
std::vector<double> loads(const Application& application, const std::vector<std::size_t>& units) {
  const auto rates = application.rates();
  std::vector<double> result(units.size());
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    result[units[callback.node]] += std::chrono::duration<double>(callback.wcet).count() * rates[i];
  }
  return result;
}

}  // namespace

std::vector<std::size_t> units(const Application& application, std::size_t cores, double room) {
  auto whole = components(application);
  if (cores == 1) {
    return whole;
  }
  const auto load = loads(application, whole);
  auto result = whole;
  std::vector<bool> placed(whole.size(), false);
  for (std::size_t node = 0; node < whole.size(); ++node) {
    if (load[whole[node]] > room) {
      result[node] = node;
    }
    placed[node] = load[whole[node]] <= room;
  }
  std::vector<std::size_t> chains(application.chains.size());
  std::iota(chains.begin(), chains.end(), std::size_t{0});
  std::ranges::stable_sort(chains, std::greater{},
                           [&](std::size_t chain) { return application.chains[chain].priority; });
  for (const std::size_t chain : chains) {
    std::optional<std::size_t> unit;
    for (const std::size_t callback : application.chains[chain].callbacks) {
      const std::size_t node = application.callbacks[callback].node;
      if (placed[node]) {
        continue;
      }
      placed[node] = true;
      if (!unit) {
        unit = node;
      }
      result[node] = *unit;
    }
  }
  return result;
}

std::vector<std::size_t> allocate(const Application& application,
                                  const std::vector<std::size_t>& units, std::size_t cores) {
  const auto load = loads(application, units);
  std::vector<int> urgency(application.nodes.size(), -1);  // of its most urgent chain
  for (const model::Chain& chain : application.chains) {
    int& most = urgency[units[application.callbacks[chain.callbacks.front()].node]];
    most = std::max(most, chain.priority);
  }
  std::vector<std::size_t> order;
  for (std::size_t node = 0; node < units.size(); ++node) {
    if (units[node] == node) {
      order.push_back(node);
    }
  }
  // The order of placing: the heaviest unit first, because it needs the most room on the least
  // loaded core; of equally heavy ones, the one with the most urgent chain.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(-load[a], -urgency[a]) < std::tuple(-load[b], -urgency[b]);
  });
  std::vector<double> used(cores);
  std::vector<std::size_t> core_of(units.size());
  for (const std::size_t each : order) {
    const auto least = std::ranges::min_element(used);
    *least += load[each];
    core_of[each] = static_cast<std::size_t>(least - used.begin());
  }
  std::vector<std::size_t> result;
  result.reserve(units.size());
  for (const std::size_t each : units) {
    result.push_back(core_of[each]);
  }
  return result;
}

}  // namespace rclrt::analysis::detail
