// SPDX-License-Identifier: Apache-2.0
// Why a chain has no bound on several CPUs.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bounds/global_bounds.hpp"
#include "bounds/global_window.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr double kRounding = 1e-9;
constexpr const char* kNotFollowed =
    "its bound would be longer than 100 of its periods and four of the longest one";

std::string in_cpus(double load) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", load);
  return text;
}

double load_of(const GlobalSource& source, Ticks work) {
  double result = 0;
  for (const GlobalArrivals& each : source.arrivals) {
    result += static_cast<double>(each.count) * static_cast<double>(work) /
              static_cast<double>(each.releases.period);
  }
  return result;
}

}  // namespace

/// Returns the work that units may do in a part `y` of the time in which all CPUs run them.
double GlobalWindow::shared_load(double y) const {
  std::vector<double> turns(turns_.size());
  std::vector<double> places(place_cpus_.size());
  double result = 0;
  const auto at = [&](std::optional<std::size_t> place) -> double& {
    return place ? places[*place] : result;
  };
  for (const Unit& unit : units_) {
    const LoadOf load = load_of_unit(unit);
    const double most = std::min(load.shared, y * static_cast<double>(unit.parallel));
    (unit.turn ? turns[*unit.turn] : at(unit.place)) += most;
  }
  for (std::size_t i = 0; i < turns.size(); ++i) {
    at(place_of_turn_[i]) += std::min(turns[i], y);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    result += std::min(places[i], y * static_cast<double>(place_cpus_[i]));
  }
  return result;
}

GlobalWindow::LoadOf GlobalWindow::load_of_unit(const Unit& unit) const {
  const GlobalSource& source = all_.sources[unit.source];
  const double all = unit.own && unit.on_path ? 0 : load_of(source, unit.work);
  double whole = unit.waits_whole ? all : 0;
  for (const GlobalNode* each : unit.whole) {
    whole += load_of(source, each->work);
  }
  return {.whole = whole, .shared = std::max(0.0, all - whole)};
}

LongRun GlobalWindow::long_run() const {
  LongRun result;
  result.whole = load_of(all_.sources[path_.source], own_);
  for (const Unit& unit : units_) {
    const LoadOf load = load_of_unit(unit);
    result.whole += load.whole;
    result.shared += load.shared;
    if (load.whole + load.shared > result.most) {
      result.most = load.whole + load.shared;
      result.largest = unit.callback;
    }
  }
  result.work = result.whole + result.shared;
  for (const Jobs& each : jobs_) {
    result.whole += load_of(all_.sources[each.source], product(each.node->count, each.cost));
  }
  result.whole += static_cast<double>(product(own_executor_.all_cpus, all_.workload.background)) /
                  static_cast<double>(kMillisecond);
  const auto cpus = static_cast<double>(own_executor_.cpus);
  double busy = 0;  // the largest part of the time in which all CPUs may run units
  double step = 0.5;
  while (step > kRounding) {
    busy += shared_load(busy + step) >= cpus * (busy + step) ? step : 0;
    step /= 2;
  }
  result.left = 1 - busy;
  return result;
}

namespace {

/// Returns the reason for which the long-run loads leave no time; empty if they leave some.
std::string reason(const LongRun& load, const std::string& largest, Ticks cpus, bool only_here) {
  const std::string count = std::to_string(cpus) + (cpus == 1 ? " CPU" : " CPUs");
  const std::string most =
      load.most > 0 ? " ('" + largest + "' needs the most: " + in_cpus(load.most) + ")" : "";
  if (only_here && load.work > static_cast<double>(cpus) + kRounding) {
    return "with all that is at least as urgent there, it needs " + in_cpus(load.work) + " of " +
           count + most;
  }
  if (load.whole + kRounding < load.left) {
    return "";
  }
  return "it needs " + in_cpus(load.whole) +
         " of a CPU, with all that it may have to wait for while a CPU is idle; other work at "
         "least as urgent needs " +
         in_cpus(load.shared) + " CPUs and may use all of them at the same times, which leaves " +
         in_cpus(std::max(0.0, load.left)) + most;
}

}  // namespace

/// Returns why a callback has no bound. `depth`: how many others may be named as the reason.
std::string GlobalBounds::why_none_of(std::size_t source, std::size_t node, int depth) const {
  const GlobalSource& own = system_.sources[source];
  const auto name = [this](std::size_t callback) {
    return "'" + workload_.application.callbacks[callback].id + "'";
  };
  if (own.is_sync && !system_.ready_after_stamp(own)) {
    for (const GlobalSource& other : system_.sources) {
      for (std::size_t i = 0; i < other.nodes.size(); ++i) {
        const GlobalNode& each = other.nodes[i];
        const bool publishes =
            !each.is_message &&
            std::ranges::find(workload_.graph.successors[each.callback], own.callback) !=
                workload_.graph.successors[each.callback].end();
        if (publishes && each.response >= kHorizon) {
          const std::string why =
              depth > 0 ? why_none_of(static_cast<std::size_t>(&other - system_.sources.data()), i,
                                      depth - 1)
                        : name(each.callback) + " has no bound";
          return "synchroniser " + name(own.callback) + " waits for it: " + why;
        }
      }
    }
  }
  const std::size_t callback = own.nodes[node].callback;
  const GlobalExecutor& executor = system_.executors[system_.executor_of[callback]];
  bool only_here = true;
  for (std::size_t i = 0; i < system_.executors.size(); ++i) {
    only_here = only_here && (!executor.callbacks_of[i] || executor.has_cpus_of[i]);
  }
  const std::string begin =
      name(callback) + " (priority " + std::to_string(workload_.priority[callback]) + ") on " +
      std::to_string(executor.cpus) + (executor.cpus == 1 ? " CPU: " : " CPUs: ");
  const auto explain = [&](const GlobalPath& path) {
    const LongRun load = GlobalWindow(system_, path).long_run();
    return reason(load, workload_.application.callbacks[load.largest].id, executor.cpus, only_here);
  };
  std::string why = explain(system_.path_of(source, node, 0));
  const auto path = system_.path_to(source, node);
  if (why.empty() && path && path->nodes.size() > path->begin + 1) {
    why = explain(*path);
    why = why.empty() ? why : "the chain up to it: " + why;
  }
  if (const auto other = why.empty() ? mutual(source, node) : std::nullopt) {
    why = "its bound and that of " + name(*other) +
          " depend on each other, because each counts work of the other that may still be under "
          "way, and both grow";
  }
  return begin + (why.empty() ? kNotFollowed : why);
}

/// Returns the callback with the most work from before, of the other flows with bounds that depend
/// on that of this node; std::nullopt if there is none.
std::optional<std::size_t> GlobalBounds::mutual(std::size_t source, std::size_t node) const {
  const auto own = std::ranges::find_if(
      raised_, [&](const Raised& each) { return each.source == source && each.node == node; });
  double most = 0;
  std::optional<std::size_t> result;
  for (const Raised& each : raised_) {
    if (each.source == source || !each.by_source[source] || !own->by_source[each.source]) {
      continue;
    }
    const GlobalSource& other = system_.sources[each.source];
    const GlobalNode& callback = other.nodes[each.node];
    const double before = load_of(other, callback.work) *
                          static_cast<double>(std::min(callback.response, limits_[each.source]));
    if (before > most) {
      most = before;
      result = callback.callback;
    }
  }
  return result;
}

std::string GlobalBounds::why_none(std::span<const std::size_t> callbacks) const {
  if (budget_.empty()) {
    return "the bounds of several CPUs take too many steps";
  }
  const auto source =
      std::ranges::find(system_.sources, callbacks.front(), &GlobalSource::callback);
  for (const std::size_t callback : callbacks) {
    for (std::size_t i = 0; source != system_.sources.end() && i < source->nodes.size(); ++i) {
      const GlobalNode& each = source->nodes[i];
      if (each.callback == callback && !each.is_message && each.response >= kHorizon) {
        const auto index = static_cast<std::size_t>(source - system_.sources.begin());
        return "no bound is found for " + why_none_of(index, i, 3);
      }
    }
  }
  return "no bound is found for '" + workload_.application.callbacks[callbacks.back()].id +
         "': " + kNotFollowed;
}

}  // namespace rclrt::analysis::detail
