// SPDX-License-Identifier: Apache-2.0
#include "bounds/global_window.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rclrt::analysis::detail {

namespace {

constexpr Ticks kMostRunsInWait = 3;

/// Returns the most work that instances of a flow do within a time x, including instances that were
/// released before. Each does `work` in sequence and ends within `response` after its release;
/// releases are at least `period` apart.
Ticks carried_in_work(Ticks x, Ticks response, Ticks work, Ticks period) {
  if (work == 0) {
    return 0;
  }
  const Ticks span = sum(x, response);
  if (work > period || span < work) {
    return product(ceil_div(span, period), work);
  }
  const Ticks whole = (span - work) / period;
  return sum(product(whole, work), std::min(work, span - work - product(whole, period)));
}

}  // namespace

GlobalWindow::GlobalWindow(const GlobalSystem& all, const GlobalPath& path)
    : all_(all), path_(path), own_executor_(all.executors[path.executor]) {
  find_shared();
  find_less_urgent();
  for (std::size_t i = 0; i < all.sources.size(); ++i) {
    add_jobs(i);
    add(i);
  }
  for (const Low& low : lows_) {
    attribute(low);
  }
  for (Unit& unit : units_) {
    unit.in_other_lane = all.pool.kind == Pool::kTimersApart &&
                         std::ranges::all_of(unit.callbacks, [&](std::size_t callback) {
                           return all.executor_of[callback] == path.executor;
                         });
  }
  own_ = sum(path.work, product(path.jobs - 1, all.overheads.near.max));
  own_ = sum(sum(own_, product(path.jobs, all.overheads.handover)), all.tail(path));
}

/// Returns the end of the path's instance, from when it is ready, if it is assumed to be at most x.
/// It is the constant part (own work and waiting) plus the least time y with
///   sum over units of min(work, parallel y) < CPUs y,
/// minus one ns. Every longer y satisfies this, too, so a binary search finds the least.
Ticks GlobalWindow::end(Ticks x) {
  const Ticks constant = sum(own_, wait(x));
  Ticks all = 0;
  for (const Unit& unit : units_) {
    all = sum(all, unit.rest);
  }
  Ticks low = 0;
  Ticks high = all / own_executor_.cpus + 1;
  while (high - low > 1) {
    const Ticks y = low + (high - low) / 2;
    (share(y) < product(y, own_executor_.cpus) ? high : low) = y;
  }
  share(high);
  return sum(constant, high - 1);
}

/// Returns the work that units may do in a time y in which all CPUs run them. With a lane for
/// timers and another one for the rest, the path's lane counts whole, and the other one runs on one
/// CPU.
Ticks GlobalWindow::share(Ticks y) {
  Ticks result = 0;
  Ticks left = y;  // of the other lane
  for (Unit& unit : units_) {
    unit.shared = std::min(unit.rest, product(y, unit.parallel));
    if (unit.in_other_lane) {
      unit.shared = std::min(unit.shared, left);
      left -= unit.shared;
    }
    result = sum(result, unit.shared);
  }
  return result;
}

std::vector<Contribution> GlobalWindow::explain(Ticks x) const {
  std::map<std::size_t, Contribution> by_source;
  for (const Unit& unit : units_) {
    const GlobalSource& source = all_.sources[unit.source];
    Contribution& term = by_source[unit.source];
    term.kind = source.is_sync ? Contribution::Kind::kSets : Contribution::Kind::kInterference;
    term.callback = source.callback;
    term.releases = source.instances(x, unit.response);
    if (unit.in_sets) {
      term.releases = std::min(term.releases, product(waits(x), kMostRunsInWait));
    }
    term.total = sum(term.total, sum(unit.blocks, unit.shared / own_executor_.cpus));
  }
  std::vector<Contribution> result;
  for (const auto& [source, term] : by_source) {
    if (term.total > 0) {
      result.push_back(term);
    }
  }
  for (const Low& low : lows_) {
    if (low.work > 0) {
      result.push_back({Contribution::Kind::kStarted, low.callback, 1, low.work});
    }
  }
  if (all_.workload.background > 0) {
    result.push_back({Contribution::Kind::kBackground, all_.sources[path_.source].callback,
                      milliseconds(x), background(x)});
  }
  if (all_.workload.stall > 0) {
    result.push_back({Contribution::Kind::kStall, all_.sources[path_.source].callback, 1,
                      product(own_executor_.all_cpus, all_.workload.stall)});
  }
  return result;
}

/// Finds the work that the path's callbacks may wait for even while a CPU is idle: other runs of
/// themselves, members of their groups, and whatever the only worker of their lane runs.
///
/// A group member with a lower priority delays a callback only once, because it cannot enter the
/// group while a thread of the callback's priority is ready. This does not hold while that thread
/// still wakes up or is busy; then the member counts like the others.
void GlobalWindow::find_shared() {
  const auto& priority = all_.priority;
  const bool has_lanes =
      all_.pool.kind == Pool::kOnePerLevel || all_.pool.kind == Pool::kTimersApart;
  const bool has_thread =
      !has_lanes && all_.workload.scheduler == 0 && all_.overheads.handover == 0;
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

/// Finds the longest less urgent member of each group of the path.
void GlobalWindow::find_less_urgent() {
  const auto& priority = all_.priority;
  for (std::size_t i = path_.begin; i < path_.nodes.size(); ++i) {
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
    const Ticks instances = instances_beside_path(each.source, x, each.response);
    result = sum(result, sum(each.once, product(instances, each.count)));
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
    const Ticks in_wait = runs_in_wait(each);
    unbounded_ = unbounded_ || (latest >= kHorizon && in_wait == 0);
    jobs_.push_back({index, each.count, latest, cost, in_wait});
  }
}

void GlobalWindow::add(std::size_t index) {
  const GlobalSource& source = all_.sources[index];
  const bool own = index == path_.source;
  Unit flow{.source = index, .in_sequence = true, .in_sets = all_.pool.runs_sets};
  for (std::size_t i = 0; i < source.nodes.size(); ++i) {
    const GlobalNode& each = source.nodes[i];
    if (all_.pool.runs_sets && whole_[each.callback]) {
      busy_.push_back({index, each.count, own ? runs_beside_path(i) : 0, each.response});
      unbounded_ = unbounded_ || each.response >= kHorizon;
    }
    if (!interferes(each.callback) || each.work == 0) {
      continue;
    }
    const Ticks in_wait = runs_in_wait(each);
    unbounded_ = unbounded_ || (each.response >= kHorizon && in_wait == 0);
    if (!own && source.sequential && source.is_simple()) {
      flow.work = sum(flow.work, each.work);
      flow.callbacks.push_back(each.callback);
      flow.response = std::max(flow.response, each.response);
      flow.in_sets = flow.in_sets && (in_wait > 0 || whole_[each.callback]);
      flow.in_wait = sum(flow.in_wait, product(in_wait, each.work));
      if (whole_[each.callback]) {
        flow.whole.push_back(&each);
      }
      continue;
    }
    Unit unit{.source = index,
              .own = own,
              .in_sequence = source.is_simple() && each.count == 1,
              .work = product(each.count, each.work),
              .response = each.response,
              .waits_whole = whole_[each.callback],
              .in_sets = in_wait > 0,
              .in_wait = product(in_wait, each.work),
              .callbacks = {each.callback}};
    if (own) {
      unit.once = product(runs_beside_path(i), each.work);
    }
    units_.push_back(std::move(unit));
  }
  if (flow.work > 0) {
    flow.parallel = source.instances(0, flow.response);
    units_.push_back(std::move(flow));
  }
}

/// Removes the work of a less urgent group member from the unit of its flow, because it already
/// counts whole as a delay. Does so only if exactly one member and one unit can be meant.
void GlobalWindow::attribute(const Low& low) {
  Unit* found = nullptr;
  for (Unit& unit : units_) {
    if (std::ranges::find(unit.callbacks, low.callback) != unit.callbacks.end()) {
      if (found != nullptr) {
        return;
      }
      found = &unit;
    }
  }
  if (low.members == 1 && found != nullptr) {
    found->low = sum(found->low, low.work);
  }
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

/// Returns how many other instances of the path's own source are under way within x, if each is
/// under way for `response` after its stamp.
Ticks GlobalWindow::others(Ticks x, Ticks response) const {
  const GlobalSource& source = all_.sources[path_.source];
  if (source.is_sync) {
    return std::max<Ticks>(0, source.instances(x, response) - 1);
  }
  const Releases& releases = source.arrivals.front().releases;
  const Ticks earlier = std::max<Ticks>(1, releases.before(response)) - 1;
  const Ticks later = releases.before(sum(x, path_.ready)) - 1;
  return earlier + std::max<Ticks>(0, later);
}

/// Returns how many instances of a source are under way within x, without that of the path.
Ticks GlobalWindow::instances_beside_path(std::size_t source, Ticks x, Ticks response) const {
  return source == path_.source ? others(x, response) : all_.sources[source].instances(x, response);
}

Ticks GlobalWindow::background(Ticks x) const {
  return product(own_executor_.all_cpus, product(milliseconds(x), all_.workload.background));
}

/// Sets the work of a unit within x.
void GlobalWindow::measure(Unit& unit, Ticks x) const {
  const GlobalSource& source = all_.sources[unit.source];
  const auto work_of = [&](Ticks response, Ticks work, bool in_sequence) {
    return in_sequence ? carried_in_work(x, sum(response, source.earlier), work,
                                         source.arrivals.front().releases.period)
                       : product(source.instances(x, response), work);
  };
  unit.total = unit.own ? sum(product(others(x, unit.response), unit.work), unit.once)
                        : work_of(unit.response, unit.work, unit.in_sequence);
  unit.blocks = unit.waits_whole ? unit.total : 0;
  for (const GlobalNode* each : unit.whole) {
    unit.blocks = sum(unit.blocks, work_of(each->response, each->work, true));
  }
  unit.blocks = std::min(unit.blocks, unit.total);
  unit.rest = std::max<Ticks>(0, unit.total - unit.blocks - unit.low);
}

/// Sets the work of each unit within x. Returns what counts whole, besides the path's own work.
Ticks GlobalWindow::wait(Ticks x) {
  Ticks result = product(own_executor_.all_cpus, all_.workload.stall);
  if (all_.workload.background > 0) {
    result = sum(result, background(x));
  }
  for (const Low& low : lows_) {
    result = sum(result, low.work);
  }
  const Ticks waiting = waits(x);
  for (Unit& unit : units_) {
    measure(unit, x);
    if (unit.in_sets) {
      unit.rest = std::min(unit.rest, product(waiting, unit.in_wait));
    }
    result = sum(result, unit.blocks);
  }
  for (const Jobs& each : jobs_) {
    const Ticks own = each.source == path_.source ? 1 : 0;
    const Ticks instances = instances_beside_path(each.source, x, each.response) + own;
    const Ticks runs = product(instances, each.count);
    const Ticks most = each.in_wait > 0 ? product(waiting, each.in_wait) : kHorizon;
    result = sum(result, product(std::min(runs, most), each.cost));
  }
  return result;
}

}  // namespace rclrt::analysis::detail
