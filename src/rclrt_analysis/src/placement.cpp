// SPDX-License-Identifier: Apache-2.0
#include "placement.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "allocation.hpp"
#include "rclrt/analysis/compress_levels.hpp"

namespace rclrt::analysis::detail {
namespace {

using model::Application;

/// Returns the process of each executor, as an index into Application::processes().
std::vector<std::size_t> process_of_executors(const Application& application) {
  std::vector<std::size_t> result(application.executors.size());
  const auto processes = application.processes();
  for (std::size_t process = 0; process < processes.size(); ++process) {
    for (const std::size_t executor : processes[process]) {
      result[executor] = process;
    }
  }
  return result;
}

/// Returns "core_3" for one CPU and "cpus_0_1" for several, behind the name of a process.
std::string executor_name(const std::string& process, const std::vector<int>& cpus) {
  // A name has no two underscores in a row, and 255 characters at most.
  constexpr std::size_t kMostOfProcess = 100;
  constexpr std::size_t kMostListed = 16;
  std::string result = process.substr(0, kMostOfProcess);
  while (result.ends_with('_')) {
    result.pop_back();
  }
  result += (result.empty() ? "" : "_") + std::string(cpus.size() == 1 ? "core" : "cpus");
  if (cpus.size() > kMostListed) {
    return result + "_" + std::to_string(cpus.front()) + "_and_" + std::to_string(cpus.size() - 1) +
           "_more";
  }
  for (const int cpu : cpus) {
    result += "_" + std::to_string(cpu);
  }
  return result;
}

/// Returns the cluster that has the least load per CPU with this load in addition.
std::size_t roomiest(const std::vector<double>& used, const Clusters& clusters, double load) {
  std::size_t result = 0;
  const auto full = [&](std::size_t cluster) {
    return (used[cluster] + load) / static_cast<double>(clusters[cluster].size());
  };
  for (std::size_t cluster = 1; cluster < clusters.size(); ++cluster) {
    if (full(cluster) < full(result)) {
      result = cluster;
    }
  }
  return result;
}

/// Returns the indices of the values in descending order.
std::vector<std::size_t> descending(const std::vector<double>& values) {
  std::vector<std::size_t> result(values.size());
  std::iota(result.begin(), result.end(), std::size_t{0});
  std::ranges::stable_sort(result, std::greater{}, [&](std::size_t each) { return values[each]; });
  return result;
}

/// Places the units that have no cluster yet, the heaviest first.
void place_rest(std::span<const PlacementUnit> units, const Clusters& clusters,
                std::vector<double>& used, std::vector<std::optional<std::size_t>>& place) {
  std::vector<double> loads;
  loads.reserve(units.size());
  for (const PlacementUnit& unit : units) {
    loads.push_back(unit.load);
  }
  for (const std::size_t unit : descending(loads)) {
    if (!place[unit]) {
      place[unit] = roomiest(used, clusters, loads[unit]);
      used[*place[unit]] += loads[unit];
    }
  }
}

std::vector<std::size_t> values_of(const std::vector<std::optional<std::size_t>>& place) {
  std::vector<std::size_t> result;
  result.reserve(place.size());
  for (const auto& each : place) {
    result.push_back(each.value());
  }
  return result;
}

}  // namespace

std::vector<PlacementUnit> placement_units(const Application& application, PlacedUnit kind) {
  const auto processes = process_of_executors(application);
  const auto rates = application.rates();
  // Units by their node or process, and their group.
  std::map<std::pair<std::size_t, std::string>, std::size_t> known;
  std::vector<PlacementUnit> result;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    const std::size_t process = processes[application.executor_of(i)];
    std::size_t unit = result.size();
    if (kind != PlacedUnit::kGroup || callback.group) {
      const std::pair key(kind == PlacedUnit::kProcess ? process : callback.node,
                          kind == PlacedUnit::kGroup ? *callback.group : std::string());
      unit = known.try_emplace(key, unit).first->second;
    }
    if (unit == result.size()) {
      result.push_back({.callbacks = {}, .node = callback.node, .process = process});
    }
    result[unit].callbacks.push_back(i);
    result[unit].load += std::chrono::duration<double>(callback.wcet).count() * rates[i];
  }
  return result;
}

Clusters clusters_of(const std::vector<int>& cpus, std::size_t count) {
  Clusters result(count);
  auto next = cpus.begin();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = (cpus.size() / count) + (i < cpus.size() % count ? 1 : 0);
    result[i].assign(next, next + static_cast<std::ptrdiff_t>(size));
    next += static_cast<std::ptrdiff_t>(size);
  }
  return result;
}

std::vector<std::size_t> place_units(std::span<const PlacementUnit> units,
                                     const Clusters& clusters) {
  std::vector<std::optional<std::size_t>> place(units.size());
  std::vector<double> used(clusters.size());
  place_rest(units, clusters, used, place);
  return values_of(place);
}

std::vector<std::size_t> place_chains(const Application& application,
                                      std::span<const PlacementUnit> units,
                                      const Clusters& clusters) {
  const auto unit_of = units_of_callbacks(units);
  std::vector<std::set<std::size_t>> members;  // of each chain: its units
  std::vector<double> loads;
  for (const model::Chain& chain : application.chains) {
    std::set<std::size_t>& own = members.emplace_back();
    for (const std::size_t callback : chain.callbacks) {
      own.insert(unit_of[callback]);
    }
    loads.push_back(std::accumulate(own.begin(), own.end(), 0.0, [&](double sum, std::size_t unit) {
      return sum + units[unit].load;
    }));
  }
  std::vector<std::optional<std::size_t>> place(units.size());
  std::vector<double> used(clusters.size());
  for (const std::size_t chain : descending(loads)) {
    double load = 0;
    std::vector<double> own(clusters.size());  // load of the chain's units that are placed
    for (const std::size_t unit : members[chain]) {
      (place[unit] ? own[*place[unit]] : load) += units[unit].load;
    }
    const auto fits = [&](std::size_t cluster) {
      return used[cluster] + load <= static_cast<double>(clusters[cluster].size());
    };
    const std::size_t most = descending(own).front();
    const std::size_t cluster = own[most] > 0 && fits(most) ? most : roomiest(used, clusters, load);
    if (!fits(cluster)) {
      continue;
    }
    used[cluster] += load;
    for (const std::size_t unit : members[chain]) {
      place[unit] = place[unit].value_or(cluster);
    }
  }
  place_rest(units, clusters, used, place);
  return values_of(place);
}

std::vector<std::size_t> place_nodes(const Application& application,
                                     std::span<const PlacementUnit> units,
                                     const Clusters& clusters) {
  const double room = static_cast<double>(clusters.front().size());
  const auto core =
      allocate(application, detail::units(application, clusters.size(), room), clusters.size());
  std::vector<std::size_t> result;
  result.reserve(units.size());
  for (const PlacementUnit& unit : units) {
    result.push_back(core[unit.node]);
  }
  return result;
}

std::vector<double> cluster_loads(std::span<const PlacementUnit> units, const Clusters& clusters,
                                  const std::vector<std::size_t>& place) {
  std::vector<double> result(clusters.size());
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    result[place[unit]] += units[unit].load;
  }
  return result;
}

double highest_load(std::span<const PlacementUnit> units, const Clusters& clusters,
                    const std::vector<std::size_t>& place) {
  const auto loads =
      clusters.empty() ? std::vector<double>() : cluster_loads(units, clusters, place);
  double result = 0;
  for (std::size_t cluster = 0; cluster < loads.size(); ++cluster) {
    result = std::max(result, loads[cluster] / static_cast<double>(clusters[cluster].size()));
  }
  return result;
}

std::vector<std::size_t> units_of_callbacks(std::span<const PlacementUnit> units) {
  std::vector<std::size_t> result;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    for (const std::size_t callback : units[unit].callbacks) {
      result.resize(std::max(result.size(), callback + 1));
      result[callback] = unit;
    }
  }
  return result;
}

Application lay_out(Application application, std::span<const PlacementUnit> units,
                    const Clusters& clusters, const std::vector<std::size_t>& place) {
  const auto stated = std::exchange(application.executors, {});
  std::map<std::pair<std::size_t, std::string>, std::size_t> made;  // by cluster and process
  const auto process = [&](std::size_t node) -> const std::string& {
    return stated[application.nodes[node].executor].process;
  };
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    made.try_emplace({place[unit], process(units[unit].node)});
  }
  std::vector<std::map<std::size_t, std::size_t>> callbacks(application.nodes.size());
  for (std::size_t node = 0; node < application.nodes.size(); ++node) {
    const bool is_empty = std::ranges::none_of(
        made, [&](const auto& each) { return each.first.second == process(node); });
    if (is_empty) {  // no node of this process has callbacks
      made.try_emplace({0, process(node)});
    }
  }
  for (auto& [key, executor] : made) {
    executor = application.executors.size();
    application.executors.push_back({.name = executor_name(key.second, clusters[key.first]),
                                     .cpus = clusters[key.first],
                                     .process = key.second});
  }
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    const std::size_t executor = made.at({place[unit], process(units[unit].node)});
    for (const std::size_t callback : units[unit].callbacks) {
      application.callbacks[callback].executor = executor;
      ++callbacks[application.callbacks[callback].node][executor];
    }
  }
  for (std::size_t node = 0; node < application.nodes.size(); ++node) {
    const std::string& own = process(node);
    const auto most =
        std::ranges::max_element(callbacks[node], {}, [](const auto& each) { return each.second; });
    application.nodes[node].executor = most != callbacks[node].end()
                                           ? most->first
                                           : std::ranges::find_if(made, [&](const auto& each) {
                                               return each.first.second == own;
                                             })->second;
  }
  for (model::Callback& callback : application.callbacks) {
    if (callback.executor == application.nodes[callback.node].executor) {
      callback.executor.reset();
    }
  }
  return application;
}

namespace {

/// Returns the different priorities of the callbacks of each executor.
std::vector<std::set<int>> levels_of_executors(const Application& application,
                                               const std::vector<int>& priorities) {
  std::vector<std::set<int>> result(application.executors.size());
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    result[application.executor_of(i)].insert(priorities[i]);
  }
  return result;
}

}  // namespace

void fit_kernel_priorities(Application& application) {
  std::map<std::vector<int>, std::vector<std::size_t>> on;  // executors, by their CPUs
  std::size_t sharers = 1;
  for (std::size_t i = 0; i < application.executors.size(); ++i) {
    auto& same = on[application.executors[i].cpus];
    same.push_back(i);
    sharers = std::max(sharers, same.size());
  }
  const std::size_t most = std::max((kMappableLevels - 1) / sharers, std::size_t{1});
  auto priorities = application.effective_priorities();
  auto levels = levels_of_executors(application, priorities);
  if (std::ranges::any_of(levels, [&](const auto& own) { return own.size() > most; })) {
    priorities = compress_levels(application, priorities, most).priorities;
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      application.callbacks[i].priority = priorities[i];
    }
    levels = levels_of_executors(application, priorities);
  }
  for (auto& [cpus, executors] : on) {
    if (executors.size() == 1) {
      continue;
    }
    std::ranges::stable_sort(executors, std::greater{}, [&](std::size_t each) {
      return levels[each].empty() ? 0 : *levels[each].rbegin();
    });
    int top = model::kTopPriority;
    for (const std::size_t each : executors) {
      application.executors[each].top_priority = top;
      top -= static_cast<int>(levels[each].size());
    }
  }
}

}  // namespace rclrt::analysis::detail
