// SPDX-License-Identifier: Apache-2.0
// The proofs are in docs/explanation/bounds.md, "Callbacks that wait".
#include "bounds/waits.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

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

void Waits::explain_levels(const model::Application& application, const Workload& workload,
                           const model::Chain& chain, std::string& note) const {
  const bool is_joined = std::ranges::all_of(
      chain.callbacks, [&](std::size_t i) { return workload.is_joined_by_dispatch[i]; });
  if (!is_joined) {
    return;
  }
  const std::size_t executor = cores_.executor_of.at(chain.callbacks.front());
  note += (note.empty() ? "" : "; ") + ("'" + application.callbacks[*first_with(executor)].id) +
          "' waits (waits_ms) and dispatching takes time, so all priorities of executor '" +
          application.executors[executor].name +
          "' count as one (docs/explanation/bounds.md#callbacks-that-wait)";
}

namespace {

/// Returns whether callbacks of the executor share a group.
bool shares_groups(const model::Application& application, std::size_t executor) {
  std::set<std::pair<std::size_t, std::string>> seen;
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    if (callback.group && application.executor_of(i) == executor &&
        !seen.emplace(callback.node, *callback.group).second) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> Waits::why_no_bounds(const model::Application& application,
                                                std::size_t executor, const Overheads& overheads,
                                                bool polls_by_thread) const {
  std::optional<std::size_t> waiting;
  std::size_t executors = 0;
  for (std::size_t i = 0; i < cores_.component.size(); ++i) {
    executors += cores_.component[i] == cores_.component[executor] ? 1 : 0;
  }
  for (std::size_t i = 0; any_ && !waiting && i < application.callbacks.size(); ++i) {
    const bool is_here = cores_.component[cores_.executor_of[i]] == cores_.component[executor];
    if (is_here && application.callbacks[i].waits.count() > 0) {
      waiting = i;
    }
  }
  if (!waiting) {
    return std::nullopt;
  }
  const auto because = [&](const std::string& reason) {
    return "callback '" + application.callbacks[*waiting].id +
           "' waits (waits_ms), and no bound is proved for callbacks that wait " + reason;
  };
  const model::Executor& own = application.executors[executor];
  if (executors > 1) {
    return because("if executors share a CPU or exchange messages");
  }
  if (polls_by_thread) {
    return because("if several threads of an executor poll: choose one thread");
  }
  if (own.cpus.size() > 1) {
    return because("on an executor with several CPUs: state one CPU (cpus: [n])");
  }
  if (!own.scheduler_cpus.empty()) {
    return because("on an executor that states scheduler_cpus");
  }
  if (overheads.scheduler > 0) {
    return because("if the scheduler thread, or the pick-up by a thread, takes time");
  }
  const bool overlaps = first_with(executor).has_value();
  if (overlaps && overheads.dispatch + overheads.polling > 0 &&
      shares_groups(application, executor)) {
    return because(
        "if dispatching takes time and callbacks share a group, or one takes several topics");
  }
  return never_free(application, executor);
}

void Waits::mix_levels(const model::Application& application, Workload& workload) const {
  for (std::size_t executor = 0; executor < application.executors.size(); ++executor) {
    std::vector<std::size_t> waiting;
    std::ranges::copy_if(callbacks_, std::back_inserter(waiting),
                         [&](std::size_t i) { return cores_.executor_of[i] == executor; });
    // Others have no bounds.
    if (waiting.empty() || !cores_.alone(executor)) {
      continue;
    }
    std::vector<bool> here;
    for (const std::size_t of : cores_.executor_of) {
      here.push_back(of == executor);
    }
    // A thread that wakes up takes time from more urgent ones, too.
    workload.mix_levels(waiting, here, workload.dispatch > 0);
  }
}

namespace {

/// Returns, for each priority, the lowest one of its joined level. `by_priority`: the callbacks in
/// ascending order of their priorities; `reached`: the highest priority that each of them reaches;
/// `highest`: that of a callback that waits. `all`: there is one level.
std::map<int, int> joined_levels(const Workload& workload,
                                 const std::vector<std::size_t>& by_priority,
                                 const std::vector<int>& reached, int highest, bool all) {
  std::map<int, int> joined;
  int lowest = 0;
  int up_to = 0;  // the highest priority of the current level
  for (std::size_t place = 0; place < by_priority.size(); ++place) {
    const std::size_t i = by_priority[place];
    if (place == 0 || (workload.priority[i] > up_to && !all)) {
      lowest = up_to = workload.priority[i];
    }
    up_to = std::max(up_to, std::min(reached[i], highest));
    joined[workload.priority[i]] = lowest;
  }
  return joined;
}

}  // namespace

/// While a callback waits, less urgent ones run. They may enter groups of more urgent callbacks,
/// and publish to these. So all levels from such a callback's own up to the highest one that it
/// reaches in this way, but none above all that wait, are one level: within it, the order of
/// callbacks is unknown.
void Workload::mix_levels(const std::vector<std::size_t>& waiting, const std::vector<bool>& here,
                          bool all) {
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
  std::vector<std::size_t> by_priority;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (here[i]) {
      by_priority.push_back(i);
      is_mixed[i] = true;
    }
  }
  std::ranges::sort(by_priority, {}, [this](std::size_t i) { return priority[i]; });
  const auto joined = joined_levels(*this, by_priority, reached, highest, all);
  const auto without_dispatch = joined_levels(*this, by_priority, reached, highest, false);
  for (const std::size_t i : by_priority) {
    is_joined_by_dispatch[i] = joined.at(priority[i]) < without_dispatch.at(priority[i]);
    priority[i] = joined.at(priority[i]);
    ceiling[i] = joined.at(ceiling[i]);
  }
}

}  // namespace rclrt::analysis::detail
