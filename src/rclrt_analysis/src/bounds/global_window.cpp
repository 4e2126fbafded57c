// SPDX-License-Identifier: Apache-2.0
#include "bounds/global_window.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace rclrt::analysis::detail {

GlobalWindow::GlobalWindow(const GlobalSystem& all, const GlobalPath& path)
    : all_(all), path_(path), own_executor_(all.executors[path.executor]) {
  find_shared();
  find_less_urgent();
  const bool runs_cost =
      all.workload.scheduler > 0 || all.overheads.handover > 0 || all.overheads.dispatch > 0;
  for (std::size_t i = 0; i < all.sources.size() && runs_cost; ++i) {
    add_jobs(i);
  }
  units_.reserve(own_executor_.nodes.size());
  // Only there, something with a lower ceiling may delay the path, as it has the same thread.
  const bool has_all = all.pool.kind == Pool::kSingle || all.pool.kind == Pool::kTimersApart;
  for (const GlobalNodes& each : own_executor_.nodes) {
    if (has_all || each.ceiling >= path.priority) {
      add(each);
    }
  }
  for (const Low& low : lows_) {
    attribute(low);
  }
  find_limits();
  own_ = sum(path.work, product(path.jobs - 1, all.overheads.near.max));
  own_ = sum(own_, product(path.jobs, all.overheads.handover));
  own_ = sum(own_, product(path.jobs, all.workload.first_poll));
}

/// Finds the work that the path's callbacks may wait for even while a CPU is idle: other runs of
/// themselves, members of their groups, and whatever the only worker of their lane runs.
///
/// A group member with a lower priority delays a callback only once, because it cannot enter the
/// group while a thread of the callback's priority is ready. This does not hold while that thread
/// still wakes up or is busy; then the member counts like the others. The only thread of an
/// executor takes the most urgent callback whenever it has ended one.
void GlobalWindow::find_shared() {
  const auto& priority = all_.priority;
  const bool has_lanes =
      all_.pool.kind == Pool::kOnePerLevel || all_.pool.kind == Pool::kTimersApart;
  const bool has_thread =
      all_.pool.kind == Pool::kSingle ||
      (!has_lanes && all_.workload.scheduler == 0 && all_.overheads.handover == 0);
  const auto lane_of = [&](std::size_t callback) {
    const bool is_timer =
        all_.workload.application.callbacks[callback].kind() == model::CallbackKind::kTimer;
    return all_.pool.kind == Pool::kTimersApart ? static_cast<int>(is_timer) : priority[callback];
  };
  whole_.resize(priority.size());
  std::set<int> lanes;
  for (std::size_t i = path_.begin; i < path_.nodes.size(); ++i) {
    const std::size_t callback = node(path_.nodes[i]).callback;
    whole_[callback] = true;
    lanes.insert(lane_of(callback));
    for (const std::size_t member : all_.members[callback]) {
      if (priority[member] >= priority[callback]) {
        lanes.insert(lane_of(member));
      }
      whole_[member] = whole_[member] || !has_thread || priority[member] >= priority[callback];
    }
  }
  for (std::size_t i = 0; i < whole_.size() && has_lanes; ++i) {
    whole_[i] = whole_[i] || (all_.executor_of[i] == path_.executor && lanes.contains(lane_of(i)));
  }
}

/// Finds the longest less urgent member of each group of the path. Where an executor has a single
/// thread, the thread takes the next callback of the path, or a more urgent one, as soon as it has
/// run the one before.
void GlobalWindow::find_less_urgent() {
  const auto& priority = all_.priority;
  const bool goes_on = all_.pool.kind == Pool::kSingle && all_.overheads.near.max == 0;
  const std::size_t end = goes_on ? path_.begin + 1 : path_.nodes.size();
  for (std::size_t i = path_.begin; i < end; ++i) {
    const std::size_t callback = node(path_.nodes[i]).callback;
    Low low;
    for (const std::size_t member : all_.members[callback]) {
      const Ticks work = sum(all_.workload.wcet[member], all_.dispatch);
      if (priority[member] >= priority[callback] || whole_[member]) {
        continue;
      }
      ++low.members;
      if (work > low.work) {
        low.callback = member;
        low.work = work;
      }
    }
    lows_.push_back(low);
  }
}

/// Returns how often a node may run while a callback of the path waits with a free group; 0: any
/// number of times. The callback is in the ready set after the current one, at the latest. A
/// subscription that runs is in no set, so it runs once in each of the two. A timer may run, and be
/// in the set that is formed meanwhile, too. This requires CPUs of the executor's own: callbacks of
/// a more urgent executor may preempt the path, or a member of its group, while the other threads
/// go on from set to set.
Ticks GlobalWindow::runs_in_wait(const GlobalNode& node) const {
  if (!all_.pool.runs_sets || whole_[node.callback] ||
      std::ranges::count(own_executor_.callbacks_of, true) > 1) {
    return 0;
  }
  const bool is_timer =
      all_.workload.application.callbacks[node.callback].kind() == model::CallbackKind::kTimer;
  return is_timer ? kMostRunsInWait : kMostRunsInWait - 1;
}

/// Returns how many waits with a free group the path has within x, at most: one for each callback,
/// and one after each run of a callback of its groups.
Ticks GlobalWindow::waits(Ticks x) const {
  Ticks result = path_.jobs;
  for (const Busy& each : busy_) {
    const GlobalNode& node = *each.node;
    const Ticks runs =
        node.response < kHorizon
            ? product(instances_beside_path(each.source, x, node.response), node.count)
            : all_.sources[each.source].runs(node, x);
    result = sum(result, sum(each.once, runs));
  }
  return result;
}

/// Returns the overheads that each run of a node adds to the path, besides the work of the node.
/// The scheduler thread, if there is one, handles each instance twice: to pass it on, and after it
/// has waited for its group. A node that interferes with the path adds a hand-over for each thread
/// that starts on a CPU: for this run, for the run that it had preempted, and for this run again
/// after it has waited for its group. Any other node adds the time to queue its instance, if a
/// thread on the path's CPUs may do that.
Ticks GlobalWindow::cost_of_run(const GlobalSource& source, const GlobalNode& node) const {
  const std::size_t executor = all_.executor_of[node.callback];
  const Ticks scheduler =
      own_executor_.schedulers_of[executor] ? product(2, all_.workload.scheduler) : 0;
  if (interferes(node.callback)) {
    const Ticks starts = all_.members[node.callback].empty() ? 2 : 3;
    return sum(scheduler, product(starts, all_.overheads.handover));
  }
  const bool is_queued_here =
      shares_cpus(node.callback) || std::ranges::any_of(node.from, [&](std::size_t from) {
        return shares_cpus(source.nodes[from].callback);
      });
  return sum(scheduler, is_queued_here ? all_.overheads.dispatch : 0);
}

void GlobalWindow::add_jobs(std::size_t index) {
  const GlobalSource& source = all_.sources[index];
  for (std::size_t i = 0; i < source.nodes.size(); ++i) {
    const GlobalNode& each = source.nodes[i];
    const Ticks cost = cost_of_run(source, each);
    if (cost == 0) {
      continue;
    }
    Ticks latest = each.response;  // an instance costs no later
    if (!interferes(each.callback) && all_.workload.scheduler == 0 && !source.is_sync) {
      // It is queued when it is released.
      latest = sum(std::max(all_.overheads.timer_jitter, all_.arrival(source, i)), cost);
    }
    const bool on_path = index == path_.source && is_on_path(i);
    jobs_.push_back({index, &each, on_path, latest, cost, runs_in_wait(each)});
  }
}

void GlobalWindow::add(const GlobalNodes& here) {
  const std::size_t index = here.source;
  const GlobalSource& source = all_.sources[index];
  const bool own = index == path_.source;
  Unit flow{.source = index, .in_sequence = true, .in_sets = all_.pool.runs_sets, .is_flow = true};
  // With a jitter of releases, instances are under way together, and callbacks one by one do less.
  const bool is_one = !own && source.sequential && source.has_one_release() && !source.has_jitter();
  Ticks callbacks = 0;  // of `flow`
  for (const std::size_t i : here.nodes) {
    const GlobalNode& each = source.nodes[i];
    if (all_.pool.runs_sets && whole_[each.callback]) {
      busy_.push_back({index, &each, own ? runs_beside_path(i) : 0});
    }
    if (!interferes(each.callback) || each.work == 0) {
      continue;
    }
    const Ticks in_wait = runs_in_wait(each);
    if (is_one && each.response < kHorizon) {
      ++callbacks;
      flow.callback = flow.work == 0 ? each.callback : flow.callback;
      flow.work = sum(flow.work, each.work);
      flow.response = std::max(flow.response, each.response);
      flow.parts.push_back(&each);
      flow.in_sets = flow.in_sets && (in_wait > 0 || whole_[each.callback]);
      flow.in_wait = sum(flow.in_wait, product(in_wait, each.work));
      if (whole_[each.callback]) {
        flow.whole.push_back(&each);
      }
      continue;
    }
    Unit unit{.source = index,
              .own = own,
              .in_sequence = source.has_one_release() && each.count == 1,
              .work = product(each.count, each.work),
              .response = each.response,
              .waits_whole = whole_[each.callback],
              .in_sets = in_wait > 0,
              .in_wait = product(in_wait, each.work),
              .callback = each.callback,
              .node = &each,
              .on_path = own && is_on_path(i),
              .is_last = own && i == path_.nodes.back()};
    if (!all_.has_turns) {
      unit.parallel = each.response < kHorizon ? all_.instances(index, 0, each.response)
                                               : own_executor_.cpus;  // or more
    }
    if (own) {
      unit.once = product(runs_beside_path(i), each.work);
      unit.before = is_before_path(i) ? product(each.count, each.work) : 0;
    }
    units_.push_back(std::move(unit));
  }
  if (flow.work > 0) {
    const Ticks instances = all_.instances(index, 0, flow.response);
    std::ranges::stable_sort(flow.parts, {}, &GlobalNode::response);
    flow.parallel = all_.has_turns ? std::min(instances, callbacks) : instances;
    units_.push_back(std::move(flow));
  }
}

/// Returns what of() returns for all callbacks of the unit that do not count whole, if that is the
/// same.
template <typename Of>
std::optional<std::size_t> GlobalWindow::only_one(const Unit& unit, Of of) const {
  std::optional<std::size_t> result;
  for (const GlobalNode& each : all_.sources[unit.source].nodes) {
    if (!runs(unit, each.callback) || whole_[each.callback]) {
      continue;
    }
    const std::size_t own = of(each.callback);
    if (result && *result != own) {
      return std::nullopt;
    }
    result = own;
  }
  return result;
}

/// Finds what units have in common: turns, of which one CPU at a time does the work, and sets of
/// CPUs that are some of the path's.
void GlobalWindow::find_limits() {
  std::map<std::size_t, std::vector<Unit*>> turns;
  for (Unit& unit : units_) {
    if (const auto turn = only_one(unit, [&](std::size_t each) { return all_.turn_of[each]; })) {
      turns[*turn].push_back(&unit);
    }
    const auto place = only_one(
        unit, [&](std::size_t each) { return own_executor_.place_of[all_.executor_of[each]]; });
    if (place && own_executor_.places[*place] < own_executor_.cpus) {
      unit.place = place;
    }
  }
  for (const auto& [turn, units] : turns) {
    if (units.size() == 1 && units.front()->parallel == 1) {
      continue;  // it limits nothing
    }
    for (Unit* const unit : units) {
      unit->turn = place_of_turn_.size();
    }
    const auto first = units.front()->place;
    const bool is_one =
        std::ranges::all_of(units, [&](const Unit* unit) { return unit->place == first; });
    place_of_turn_.push_back(is_one ? first : std::nullopt);
  }
  turns_.resize(place_of_turn_.size());
  turn_lines_.resize(place_of_turn_.size());
  place_cpus_ = own_executor_.places;
  places_.resize(place_cpus_.size());
  place_lines_.resize(place_cpus_.size());
}

/// Returns whether the callback is one of the unit's.
bool GlobalWindow::runs(const Unit& unit, std::size_t callback) const {
  if (!unit.is_flow) {
    return unit.callback == callback;
  }
  return interferes(callback) &&
         std::ranges::any_of(all_.sources[unit.source].nodes, [&](const GlobalNode& each) {
           return each.callback == callback && each.work > 0 && each.response < kHorizon;
         });
}

/// Removes the work of a less urgent group member from the unit of its flow, because it already
/// counts whole as a delay. Does so only if exactly one member and one unit can be meant.
void GlobalWindow::attribute(const Low& low) {
  if (low.members != 1) {
    return;
  }
  Unit* found = nullptr;
  for (Unit& unit : units_) {
    if (runs(unit, low.callback)) {
      if (found != nullptr) {
        return;
      }
      found = &unit;
    }
  }
  if (found != nullptr) {
    found->low = sum(found->low, low.work);
  }
}

/// Returns whether a node is one of those that have ended when the path begins.
bool GlobalWindow::is_before_path(std::size_t index) const {
  const auto begin = path_.nodes.begin() + static_cast<std::ptrdiff_t>(path_.begin);
  return std::find(path_.nodes.begin(), begin, index) != begin;
}

/// Returns whether a node is one of those that run between the path's begin and its end.
bool GlobalWindow::is_on_path(std::size_t index) const {
  const auto begin = path_.nodes.begin() + static_cast<std::ptrdiff_t>(path_.begin);
  return std::find(begin, path_.nodes.end(), index) != path_.nodes.end();
}

/// Returns whether instances of each callback run in the order of their release.
bool GlobalWindow::keeps_order() const {
  return all_.pool.kind == Pool::kOnePerLevel ||
         (all_.pool.kind == Pool::kEnough && all_.workload.scheduler == 0);
}

bool GlobalWindow::has_order() const {
  const GlobalSource& source = all_.sources[path_.source];
  const Pool kind = all_.pool.kind;
  const bool has_threads =
      kind == Pool::kOnePerLevel || kind == Pool::kEnough || kind == Pool::kOfInstances;
  return has_threads && (keeps_order() || path_.begin == 0) && !all_.pool.runs_sets &&
         path_.single && !source.is_sync && source.arrivals.size() == 1 &&
         source.arrivals.front().count == 1 &&
         std::ranges::all_of(path_.nodes.begin() + static_cast<std::ptrdiff_t>(path_.begin),
                             path_.nodes.end(),
                             [&](std::size_t each) { return node(each).count == 1; });
}

/// Returns how often the path's own instance may run a node beside the path. Callbacks that the
/// path's end releases are none of these, unless they may preempt it before it returns.
Ticks GlobalWindow::runs_beside_path(std::size_t index) const {
  const GlobalNode& each = node(index);
  const std::size_t last = path_.nodes.back();
  const auto contains = [](const std::vector<std::size_t>& nodes, std::size_t one) {
    return std::ranges::find(nodes, one) != nodes.end();
  };
  const bool is_released_by_end = index != last && each.count == 1 && contains(each.before, last);
  if (is_released_by_end && all_.tail(path_) == 0) {
    return 0;
  }
  const bool on_path = path_.single ? contains(path_.nodes, index) : index == 0 || index == last;
  return each.count - (on_path ? 1 : 0);
}

}  // namespace rclrt::analysis::detail
