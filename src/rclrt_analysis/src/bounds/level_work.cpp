// SPDX-License-Identifier: Apache-2.0
#include "bounds/level_work.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <rclrt/model/executor_kind.hpp>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "demand.hpp"

namespace rclrt::analysis::detail {

Workload::Workload(const model::Application& app, const Overheads& overheads,
                   Order order_of_callbacks, bool in_order_of_release, EventLimits limits)
    : application(app),
      graph(app),
      order(order_of_callbacks),
      by_release(in_order_of_release),
      dispatch(sum(sum(overheads.dispatch, overheads.scheduler), overheads.polling)),
      scheduler(overheads.scheduler),
      first_poll(overheads.polling),
      background(overheads.background),
      stall(overheads.stall),
      limits_(limits) {
  const std::size_t n = app.callbacks.size();
  priority = ceiling = turn = std::vector<int>(n);
  is_mixed.resize(n);
  is_joined_by_dispatch.resize(n);
  if (order == Order::kPriority) {
    priority = app.effective_priorities();
    ceiling = group_levels(app);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!app.callbacks[i].takes_messages()) {
      timers.push_back(i);
    }
  }
  wcet.resize(n);
  period.resize(timers.size());
  jitter.resize(timers.size());
  distance.resize(timers.size());
  read_values();
  find_sources();
  find_runs();
}

void Workload::read_values() {
  for (std::size_t i = 0; i < wcet.size(); ++i) {
    const model::Callback& callback = application.callbacks[i];
    wcet[i] = std::min<Ticks>(callback.wcet.count(), kMaxTicks);
    if (callback.waits.count() > 0) {
      const Ticks work = std::max<Ticks>(wcet[i], 1);  // it needs the CPU again after it has waited
      wcet[i] = std::min(sum(work, sum(callback.waits.count(), dispatch)), kMaxTicks);
    }
  }
  for (std::size_t k = 0; k < timers.size(); ++k) {
    const model::Callback& callback = application.callbacks[timers[k]];
    distance[k] = std::max<Ticks>(1, model::min_interval(callback).count());
    period[k] = distance[k];
    jitter[k] = 0;
    const auto* const event = std::get_if<model::Event>(&callback.trigger);
    if (limits_ == EventLimits::kPeriod && event != nullptr && event->jitter.count() > 0) {
      period[k] = event->period.count();
      jitter[k] = event->jitter.count();
    }
  }
}

void Workload::read_times() {
  read_values();
  // Periods decide only by which input a sync is counted.
  for (std::size_t i = 0; i < wcet.size(); ++i) {
    if (is_sync(*this, i)) {
      find_sources();
      find_runs();
      return;
    }
  }
}

bool keeps_grid(const model::Callback& callback) {
  const auto* const timer = std::get_if<model::Timer>(&callback.trigger);
  return timer != nullptr && timer->overrun != model::OverrunPolicy::kRebase;
}

std::optional<Ticks> stated_offset(const model::Callback& callback) {
  const auto* const timer = std::get_if<model::Timer>(&callback.trigger);
  const bool known = timer != nullptr && timer->offset_stated && keeps_grid(callback);
  return known ? std::optional<Ticks>(timer->offset.count()) : std::nullopt;
}

Releases Workload::releases(std::size_t k, Ticks late) const {
  const Ticks all = sum(jitter[k], late);
  // The count by the distance is not lower if the period and the jitter imply the distance.
  const bool implied = distance[k] <= period[k] - jitter[k];
  return {period[k], all, implied ? period[k] : distance[k], implied ? all : late};
}

Ticks Workload::return_delay(std::size_t callback) const {
  const auto preempts = [&](std::size_t successor) {
    return order == Order::kAny ||
           (order == Order::kPriority &&
            (priority[successor] > priority[callback] ||
             application.executor_of(successor) != application.executor_of(callback)));
  };
  const bool is_late = wcet[callback] == 0 || application.callbacks[callback].waits.count() > 0 ||
                       (is_mixed[callback] && !graph.successors[callback].empty());
  return is_late || std::ranges::any_of(graph.successors[callback], preempts) ? 1 : 0;
}

/// Finds, for each sync and subscription, the publisher (`counted_by`) and the timer (`source`) by
/// which its runs are counted.
///
/// A sync runs once for each set. When a busy period begins, one of its inputs has no message that
/// can be in a set (a set is formed at once, see below). So within the period the sync runs no more
/// often than messages arrive at the busiest input, the one with a timer of the shortest period. If
/// an event among them has jitter, no input need be the busiest one at all times, and there is no
/// source.
///
/// Proof: suppose each input had such a message, and take the oldest of each. Let c be the time of
/// the latest of these. All sets to come have a stamp of at least c, so a message that is older
/// than c by more than the window is in none of them. The others then lie within the window before
/// c. They are a set, which would have been formed when the last of its messages arrived.
void Workload::find_sources() {
  const std::size_t n = wcet.size();
  counted_by.assign(n, {});
  source.assign(n, {});
  for (const std::size_t i : graph.order) {
    const auto& inputs = graph.publishers[i];
    if (inputs.empty()) {
      source[i] = i;
      continue;
    }
    const auto timer_of = [&](std::size_t callback) {
      return static_cast<std::size_t>(std::ranges::lower_bound(timers, *source[callback]) -
                                      timers.begin());
    };
    std::optional<std::size_t> best;
    bool single = true;
    for (const auto& input : inputs) {
      single = single && input.size() == 1 && source[input.front()];
      if (!single) {
        break;
      }
      const std::size_t own = timer_of(input.front());
      if (best) {
        const std::size_t other = timer_of(*best);
        single = own == other || jitter[own] + jitter[other] == 0;
      }
      if (!best || period[own] < period[timer_of(*best)]) {
        best = input.front();
      }
    }
    if (!single) {
      continue;
    }
    counted_by[i] = best;
    source[i] = source[*best];
  }
}

/// Returns the releases that bring all runs of these callbacks.
std::vector<RunsOf> Workload::runs_of_all(const std::vector<std::size_t>& callbacks) const {
  std::vector<RunsOf> by_timer(timers.size());
  for (const std::size_t callback : callbacks) {
    for (const RunsOf& each : runs[callback]) {
      RunsOf& own = by_timer[each.timer];
      own.timer = each.timer;
      own.count = sum(own.count, each.count);
      own.earlier = std::max(own.earlier, each.earlier);
    }
  }
  std::erase_if(by_timer, [](const RunsOf& each) { return each.count == 0; });
  return by_timer;
}

std::vector<RunsOf> Workload::messages_of(
    const std::vector<std::vector<std::size_t>>& inputs) const {
  std::vector<std::size_t> publishers;
  for (const auto& input : inputs) {
    publishers.insert(publishers.end(), input.begin(), input.end());
  }
  return runs_of_all(publishers);
}

/// Adds the time for which messages of a sync's rarest input may wait in it.
void Workload::let_wait(const model::Sync& sync, std::vector<RunsOf>& rarest) const {
  for (RunsOf& each : rarest) {
    Ticks waiting = sync.window.count();
    if (rarest.size() == 1) {
      const auto depth = static_cast<Ticks>(std::min<std::size_t>(sync.depth, kMaxTicks));
      waiting = std::min(waiting, product(ceil_div(depth, each.count), period[each.timer]));
    }
    each.earlier = sum(each.earlier, waiting);
  }
}

/// The sum is that of sorted terms, so it does not depend on the order of timers in the file.
double Workload::rate_of(const std::vector<RunsOf>& runs_of) const {
  std::vector<double> rates;
  for (const RunsOf& each : runs_of) {
    rates.push_back(static_cast<double>(each.count) / static_cast<double>(period[each.timer]));
  }
  std::ranges::sort(rates);
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// Returns whether the first input has fewer releases in the long run, or as many with later
/// stamps, or fewer of them at one time. If inputs are equal in all of this, the one with the first
/// identifiers is the rarer one, in any order of the file.
bool Workload::is_rarer(const std::vector<RunsOf>& one, const std::vector<std::size_t>& publishers,
                        const std::vector<RunsOf>& other,
                        const std::vector<std::size_t>& other_publishers) const {
  const auto measure = [this](const std::vector<RunsOf>& runs_of) {
    Ticks at_once = 0;
    Ticks late = 0;
    for (const RunsOf& each : runs_of) {
      at_once = sum(at_once, each.count);
      late = std::max(late, jitter[each.timer]);
    }
    return std::tuple(rate_of(runs_of), std::ranges::max(runs_of, {}, &RunsOf::earlier).earlier,
                      at_once, late);
  };
  const auto first = measure(one);
  const auto second = measure(other);
  const auto names = [this](const std::vector<std::size_t>& callbacks) {
    std::set<std::string> result;
    for (const std::size_t each : callbacks) {
      result.insert(application.callbacks[each].id);
    }
    return result;
  };
  return first < second || (first == second && names(publishers) < names(other_publishers));
}

int Workload::lowest(std::span<const std::size_t> callbacks) const {
  int level = priority[callbacks.front()];
  for (const std::size_t callback : callbacks) {
    level = std::min(level, priority[callback]);
  }
  return level;
}

std::optional<int> Workload::lowest_from_timer(std::size_t callback) const {
  int lowest = priority[callback];
  while (graph.publishers[callback].size() == 1 && counted_by[callback]) {
    callback = *counted_by[callback];
    lowest = std::min(lowest, priority[callback]);
  }
  return graph.publishers[callback].empty() ? std::optional(lowest) : std::nullopt;
}

bool Workload::is_rarer_than_source(std::size_t sync) const {
  if (!source[sync]) {
    return true;
  }
  const auto& all = runs[*source[sync]];  // of a timer
  return rate_of(runs[sync]) < rate_of(all);
}

bool Workload::has_rarer_inputs() const {
  for (std::size_t i = 0; i < wcet.size(); ++i) {
    if (is_sync(*this, i) && source[i] && is_rarer_than_source(i)) {
      return true;
    }
  }
  return false;
}

/// Finds, for each callback, the releases that bring all of its runs: `runs`.
///
/// A set takes one message of each input, and no message is in two sets. So a sync has no more runs
/// than its rarest input has messages that can be in a set. The stamps of a set are within the
/// window, and the stamp of the run is the latest of them. So the stamp of the rarest input's
/// message is at most a window before the stamp of the run. This holds for any number of publishers
/// of the other inputs, and whatever is lost.
///
/// A sync keeps `depth` messages of each input. So at most `depth` messages of the rarest input
/// wait at any time. They count as if their releases had been that many periods earlier.
void Workload::find_runs() {
  runs.assign(wcet.size(), {});
  messages.assign(wcet.size(), {});
  rarest_input.assign(wcet.size(), 0);
  for (std::size_t k = 0; k < timers.size(); ++k) {
    runs[timers[k]] = {{k, 1, 0}};
  }
  std::map<std::vector<std::size_t>, std::vector<RunsOf>> by_publishers;  // many have the same
  for (const std::size_t i : graph.order) {
    const auto& inputs = graph.publishers[i];
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      const auto [at, added] = by_publishers.try_emplace(inputs[input]);
      if (added) {
        at->second = runs_of_all(inputs[input]);
      }
      const std::vector<RunsOf>& of_input = at->second;
      if (!of_input.empty() && (runs[i].empty() || is_rarer(of_input, inputs[input], runs[i],
                                                            inputs[rarest_input[i]]))) {
        runs[i] = of_input;
        rarest_input[i] = input;
      }
    }
    if (const auto* const sync = std::get_if<model::Sync>(&application.callbacks[i].trigger)) {
      messages[i] = messages_of(inputs);
      let_wait(*sync, runs[i]);
    }
  }
}

LevelWork::LevelWork(const Workload& workload, int level, const std::vector<bool>& here)
    : workload_(workload),
      level_(level),
      head_(workload.wcet.size()),
      counted_(workload.wcet.size()),
      left_(workload.wcet.size()),
      left_without_sets_(workload.wcet.size()) {
  const auto& order = workload.graph.order;
  for (const std::size_t i : order) {
    const auto& by = workload.counted_by[i];
    counted_[i] = workload.priority[i] >= level &&
                  (workload.source[i] == i || (by && workload.source[i] && counted_[*by]));
  }
  std::vector<Ticks> whole(head_.size());  // as head_, with each run of a sync for each message
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const std::size_t i = *at;
    Ticks after = 0;
    Ticks before_syncs = 0;
    for (const std::size_t to : workload.graph.successors[i]) {
      after = sum(after, whole[to]);
      // A message to a sync costs only its dispatch when it arrives. The run of the set that it
      // completes is in sets().
      before_syncs = sum(before_syncs, is_sync(workload, to) ? workload.dispatch : head_[to]);
    }
    // Each release adds one dispatch overhead to the running callback.
    head_[i] = whole[i] = workload.dispatch;
    if (workload.priority[i] >= level) {
      const Ticks run = sum(workload.wcet[i], before_syncs);
      head_[i] = sum(head_[i], run);
      whole[i] = sum(whole[i], sum(workload.wcet[i], after));
      if (here[i] && is_sync(workload, i)) {
        sets_.push_back({i, run, {}});
        if (counted_[i]) {
          sets_.back().at_most = workload.runs[*workload.source[i]].front().timer;
        }
      }
      continue;
    }
    const Ticks rest = sum(workload.ceiling[i] >= level ? workload.wcet[i] : 0, workload.dispatch);
    if (here[i]) {
      left_[i] = sum(rest, after);
      left_without_sets_[i] = sum(rest, before_syncs);
      if (after != before_syncs) {
        before_sets_.push_back(i);
      }
    }
  }
}

bool LevelWork::follows(std::size_t callback) const {
  return workload_.lowest_from_timer(callback).has_value();
}

}  // namespace rclrt::analysis::detail
