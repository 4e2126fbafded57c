// SPDX-License-Identifier: Apache-2.0
// The proofs are in docs/explanation/bounds.md, "Callbacks that wait".
#include "bounds/waits.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include "bounds/level_work.hpp"

namespace rclrt::analysis::detail {

Waits::Waits(const model::Application& application, const Cores& cores, bool single_thread)
    : cores_(cores), single_thread_(single_thread) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const Core& core = cores.cores[cores.core_of[cores.executor_of[i]]];
    const bool alone = single_thread && core.executors.size() == 1;
    const bool waits = application.callbacks[i].waits.count() > 0;
    any_ = any_ || waits;
    if (waits && !alone) {
      callbacks_.push_back(i);
    }
  }
}

std::optional<std::size_t> Waits::first_with(std::size_t executor) const {
  const auto found = std::ranges::find_if(callbacks_, [&](std::size_t callback) {
    return cores_.component[cores_.executor_of[callback]] == cores_.component[executor];
  });
  return found != callbacks_.end() ? std::optional(*found) : std::nullopt;
}

std::optional<std::string> Waits::never_free(const model::Application& application,
                                             std::size_t executor) const {
  if (!single_thread_ || !any_) {
    return std::nullopt;
  }
  const std::vector<double> rates = application.rates();
  double load = 0;
  std::optional<std::size_t> waiting;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (cores_.executor_of[i] == executor) {
      load += std::chrono::duration<double>(callback.wcet + callback.waits).count() * rates[i];
      waiting = !waiting && callback.waits.count() > 0 ? std::optional(i) : waiting;
    }
  }
  if (!waiting || load <= 1 + 1e-9) {
    return std::nullopt;
  }
  return "the thread of executor '" + application.executors[executor].name +
         "' is never free: its callbacks run and wait for " +
         std::to_string(std::lround(100 * load)) + " % of the time ('" +
         application.callbacks[*waiting].id + "' waits, waits_ms)";
}

void Waits::name_terms(const model::Application& application, const model::Chain& chain,
                       std::vector<Contribution>& why) const {
  if (!any_) {
    return;
  }
  for (const std::size_t callback : chain.callbacks) {
    const Ticks waits = application.callbacks[callback].waits.count();
    const auto own = std::ranges::find(why, Contribution::Kind::kOwn, &Contribution::kind);
    if (waits > 0 && own != why.end() && own->total >= waits) {
      own->total -= waits;
      why.push_back({Contribution::Kind::kWaits, callback, 1, waits});
    }
  }
  std::ranges::stable_sort(why, std::greater{}, &Contribution::total);
}

std::optional<std::string> Waits::no_bounds_on_several(const model::Application& application,
                                                       std::size_t executor) const {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (application.callbacks[i].waits.count() > 0 &&
        cores_.component[cores_.executor_of[i]] == cores_.component[executor]) {
      return "callback '" + application.callbacks[i].id +
             "' waits (waits_ms), and no bound is proved for callbacks that wait where an executor "
             "uses several CPUs: state one CPU for each executor and its scheduler thread (cpus: "
             "[n])";
    }
  }
  return std::nullopt;
}

/// While a callback waits, less urgent ones run. They may enter groups of more urgent callbacks,
/// and publish to these. So all levels from such a callback's own up to the highest one that it
/// reaches in this way, but none above all that wait, are one level: within it, the order of
/// callbacks is unknown.
void Workload::mix_levels(const std::vector<std::size_t>& waiting) {
  if (waiting.empty()) {
    return;
  }
  is_mixed = true;
  by_release = false;
  int highest = ceiling[waiting.front()];  // at which a callback waits
  for (const std::size_t i : waiting) {
    highest = std::max(highest, ceiling[i]);
  }
  std::vector<int> reached = ceiling;
  for (auto at = graph.order.rbegin(); at != graph.order.rend(); ++at) {
    for (const std::size_t to : graph.successors[*at]) {
      reached[*at] = std::max(reached[*at], reached[to]);
    }
  }
  // From the highest priority down: `lowest_of` the level that a priority is joined with.
  std::vector<std::size_t> by_priority(priority.size());
  for (std::size_t i = 0; i < by_priority.size(); ++i) {
    by_priority[i] = i;
  }
  std::ranges::sort(by_priority, {}, [this](std::size_t i) { return priority[i]; });
  std::vector<int> joined(priority.size());
  int lowest = 0;
  int up_to = 0;  // the highest priority of the current level
  for (std::size_t place = 0; place < by_priority.size(); ++place) {
    const std::size_t i = by_priority[place];
    if (place == 0 || priority[i] > up_to) {
      lowest = up_to = priority[i];
    }
    up_to = std::max(up_to, std::min(reached[i], highest));
    joined[i] = lowest;
  }
  const auto joined_of = [&](int stated) {
    int result = stated;
    for (std::size_t i = 0; i < priority.size(); ++i) {
      if (priority[i] == stated) {
        result = joined[i];
      }
    }
    return result;
  };
  for (int& each : ceiling) {
    each = joined_of(each);
  }
  priority = joined;
}

}  // namespace rclrt::analysis::detail
