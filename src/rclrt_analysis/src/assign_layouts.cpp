// SPDX-License-Identifier: Apache-2.0
#include "assign_layouts.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>

#include "bounds/kind.hpp"

namespace rclrt::analysis::detail {
namespace {

using model::Application;

constexpr std::size_t kEachSizeUpTo = 4;  // CPUs of a cluster; above, the sizes double

bool has_bounds_on_several(ExecutorKind executor) {
  const Pool pool = bounds_of(executor).pool;
  return pool != Pool::kNone && pool != Pool::kSingle;
}

std::string without_bounds_on_several(ExecutorKind executor) {
  return "an executor of the kind " + std::string(traits(executor).name) +
         " uses one CPU at a time";
}

/// Returns why the file does not keep the units of AssignOptions::unit whole, as a sentence; empty
/// if it does.
std::string why_not_whole(const Application& application, PlacedUnit unit) {
  for (const model::Callback& callback : application.callbacks) {
    if (unit != PlacedUnit::kGroup && callback.executor) {
      return "callback '" + callback.id + "' has another executor than its node";
    }
  }
  if (unit == PlacedUnit::kProcess) {
    for (const auto& executors : application.processes()) {
      if (executors.size() > 1) {
        return "executors '" + application.executors[executors[0]].name + "' and '" +
               application.executors[executors[1]].name + "' are in one process";
      }
    }
  }
  return "";
}

/// Returns why the layout of the file is not one of the results, as a sentence; empty if it is.
std::string why_not_as_stated(const Application& application, const AssignOptions& options) {
  const auto& cpus = options.cpus;
  for (const model::Executor& executor : application.executors) {
    if (executor.cpus.empty()) {
      return "executor '" + executor.name + "' states no CPUs";
    }
    for (const auto* const own : {&executor.cpus, &executor.scheduler_cpus}) {
      for (const int cpu : *own) {
        if (std::ranges::find(cpus, cpu) == cpus.end()) {
          return "executor '" + executor.name + "' uses CPU " + std::to_string(cpu) +
                 ", which is none of those to use";
        }
      }
    }
  }
  return why_not_whole(application, options.unit);
}

/// Returns why the stated layout is not possible, as a sentence; empty if it is.
std::string why_layout_is_impossible(const Application& application, const AssignOptions& options) {
  switch (options.layout.value()) {
    case Layout::kStated:
      return why_not_as_stated(application, options);
    case Layout::kPartitioned:
      return "";
    case Layout::kClustered:
      if (options.cpus.size() < 3) {
        return "clusters need 3 CPUs or more, and there are " + std::to_string(options.cpus.size());
      }
      break;
    case Layout::kGlobal:
      if (options.cpus.size() == 1) {
        return "";
      }
      break;
  }
  return has_bounds_on_several(options.executor) ? "" : without_bounds_on_several(options.executor);
}

/// Returns the numbers of clusters, in descending order, without single CPUs and without one
/// cluster of all.
std::vector<std::size_t> cluster_counts(std::size_t cpus) {
  std::set<std::size_t, std::greater<>> result;
  for (std::size_t size = 2; size < cpus; size += size < kEachSizeUpTo ? 1 : size) {
    const std::size_t count = (cpus + size - 1) / size;
    if (count > 1) {
      result.insert(count);
    }
  }
  return {result.begin(), result.end()};
}

}  // namespace

std::vector<AssignLayout> assign_layouts(const Application& application,
                                         std::span<const PlacementUnit> units,
                                         const AssignOptions& options) {
  if (options.layout) {
    if (const std::string reason = why_layout_is_impossible(application, options);
        !reason.empty()) {
      throw std::invalid_argument("this layout is not possible: " + reason +
                                  "; choose another layout");
    }
  }
  const bool picas = options.method == AssignMethod::kPicas;
  const std::size_t cpus = options.cpus.size();
  const bool several = cpus > 1 && has_bounds_on_several(options.executor);
  std::vector<AssignLayout> result;
  const auto wanted = [&](Layout layout) {
    return options.layout ? *options.layout == layout : layout == Layout::kPartitioned || !picas;
  };
  const auto add = [&](Layout layout, std::size_t count) {
    AssignLayout& own = result.emplace_back();
    own.kind = layout;
    own.clusters = clusters_of(options.cpus, count);
    own.placements.push_back(place_nodes(application, units, own.clusters));
    if (picas) {
      return;
    }
    for (const auto& place :
         {place_chains(application, units, own.clusters), place_units(units, own.clusters)}) {
      if (std::ranges::find(own.placements, place) == own.placements.end()) {
        own.placements.push_back(place);
      }
    }
    std::ranges::stable_sort(own.placements, std::less{}, [&](const auto& place) {
      return highest_load(units, own.clusters, place) > 1;
    });
  };
  if (wanted(Layout::kStated) && why_not_as_stated(application, options).empty()) {
    result.push_back(
        {.kind = Layout::kStated, .clusters = {}, .placements = {std::vector<std::size_t>{}}});
  }
  if (wanted(Layout::kPartitioned)) {
    add(Layout::kPartitioned, cpus);
  }
  if (wanted(Layout::kClustered) && several) {
    for (const std::size_t count : cluster_counts(cpus)) {
      add(Layout::kClustered, count);
    }
  }
  if (wanted(Layout::kGlobal) && (several || (options.layout && cpus == 1))) {
    add(Layout::kGlobal, 1);
  }
  return result;
}

std::string why_no_more_layouts(const Application& application, const AssignOptions& options) {
  if (options.layout || options.method == AssignMethod::kPicas) {
    return "";
  }
  if (options.cpus.size() > 1 && !has_bounds_on_several(options.executor)) {
    return without_bounds_on_several(options.executor);
  }
  const bool states_cpus = std::ranges::none_of(
      application.executors, [](const auto& executor) { return executor.cpus.empty(); });
  const std::string reason = states_cpus ? why_not_as_stated(application, options) : std::string();
  return reason.empty() ? "" : "the executors of the file are not kept: " + reason;
}

}  // namespace rclrt::analysis::detail
