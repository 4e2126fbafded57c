// SPDX-License-Identifier: Apache-2.0
// The work within a time, and the end of a path that has to wait for it.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "bounds/global_window.hpp"

namespace rclrt::analysis::detail {

namespace {

/// Returns the most work that instances of a flow do within a time, including instances that were
/// released before. Each does `work` in sequence and ends within some time after its release, and
/// `span` is the sum of both times. If it has work of `count` instances, the first one does no more
/// than the time from the begin of the span to its release, and the last one no more than that from
/// its release to the end.
Ticks carried_in_work(Ticks span, Ticks work, const Releases& releases) {
  const Ticks most = releases.before(span);
  // One alone has no more than the time without the rest of the span, which is `work` or longer.
  Ticks result = std::min(work, span < work ? span : span - work);
  for (Ticks count = std::max<Ticks>(2, most - 2); count <= most; ++count) {
    const Ticks ends = std::min(product(2, work), span - shortest_time(releases, count));
    result = std::max(result, sum(product(count - 2, work), ends));
  }
  return result;
}

}  // namespace

/// Returns the end of the path's instance, from when it is ready, if it is assumed to be at most x;
/// with set_instances(), from when the first one is ready. It is the constant part (own work and
/// waiting) plus the least time y with
///   sum over units of min(work, parallel y) < CPUs y,
/// minus one ns, where units with turns do no more than y together, and units on p of the CPUs no
/// more than p y. Every longer y satisfies this, too.
Ticks GlobalWindow::end(Ticks x) {
  // 1: the time may end before the path is ready; the proof needs it then
  const Ticks constant = sum(sum(own(), wait(x)), start_ == WindowStart::kBusy ? 1 : 0);
  idle_ = first_idle(&Unit::rest);
  if (start_ == WindowStart::kBusy) {
    // The work in this case is between those of two simpler ones.
    Ticks low = first_idle(&Unit::begun) - 1;
    while (idle_ - low > 1) {
      const Ticks y = low + (idle_ - low) / 2;
      (share(y) < product(y, own_executor_.cpus) ? idle_ : low) = y;
    }
  }
  return sum(constant, idle_ - 1);
}

/// Returns the least time y in which the work that units may do is less than that of all CPUs.
/// `begun`: the work of those that have some from before the window's start; the others do `rest`.
///
/// The work is a concave function of y, so it is nowhere above its tangent. From a y that satisfies
/// this, the tangent there leads to a smaller one that does, too (Newton's method), after a few
/// steps to the least one.
Ticks GlobalWindow::first_idle(Ticks Unit::* work) {
  const Ticks cpus = own_executor_.cpus;
  for (Ticks y = kHorizon;;) {
    const Line here = tangent(y, work);
    if (here.constant >= kHorizon || here.slope >= cpus) {
      return kHorizon;  // the sum of the work has no value
    }
    const Ticks next = here.constant / (cpus - here.slope) + 1;
    if (next < y) {
      y = next;
      continue;
    }
    if (y == 1) {
      return y;
    }
    const Line before = tangent(y - 1, work);  // there may be a corner between y - 1 and y
    if (sum(before.constant, product(before.slope, y - 1)) >= product(cpus, y - 1)) {
      return y;
    }
    --y;
  }
}

/// Returns the work that units may do in times about y, as a line that touches it at y.
GlobalWindow::Line GlobalWindow::tangent(Ticks y, Ticks Unit::* work) {
  Line result;
  std::ranges::fill(turn_lines_, Line{});
  std::ranges::fill(place_lines_, Line{});
  const auto at = [&](std::optional<std::size_t> place) -> Line& {
    return place ? place_lines_[*place] : result;
  };
  for (const Unit& unit : units_) {
    const Ticks most = unit.at_start ? unit.*work : unit.rest;
    Line& line = unit.turn ? turn_lines_[*unit.turn] : at(unit.place);
    line.add({.constant = most, .slope = 0}, y, unit.parallel);
  }
  for (std::size_t i = 0; i < turn_lines_.size(); ++i) {
    at(place_of_turn_[i]).add(turn_lines_[i], y, 1);
  }
  for (std::size_t i = 0; i < place_lines_.size(); ++i) {
    result.add(place_lines_[i], y, place_cpus_[i]);
  }
  return result;
}

void GlobalWindow::Line::add(const Line& line, Ticks y, Ticks most) {
  const bool is_more = sum(line.constant, product(line.slope, y)) > product(y, most);
  if (is_more || line.slope > most || line.constant >= kHorizon) {
    slope += most;
  } else {
    constant = sum(constant, line.constant);
    slope += line.slope;
  }
}

/// Returns the work that units may do in a time y in which all CPUs run them.
Ticks GlobalWindow::share(Ticks y) {
  Ticks result = 0;
  const bool is_busy = start_ == WindowStart::kBusy;
  std::ranges::fill(turns_, y);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    places_[i] = product(y, place_cpus_[i]);
  }
  for (Unit& unit : units_) {
    const Ticks work = is_busy && unit.at_start ? unit.begun : unit.rest;
    unit.in_turn = std::min(work, product(y, unit.parallel));
    if (unit.turn) {
      unit.in_turn = std::min(unit.in_turn, turns_[*unit.turn]);
      turns_[*unit.turn] -= unit.in_turn;
    }
    unit.shared = unit.in_turn;
    if (const auto place = unit.turn ? place_of_turn_[*unit.turn] : unit.place) {
      unit.shared = std::min(unit.shared, places_[*place]);
      places_[*place] -= unit.shared;
    }
    result = sum(result, unit.shared);
  }
  return is_busy ? sum(result, most_carried_in(y)) : result;
}

void GlobalWindow::mark_sources(std::vector<bool>& sources) const {
  const auto mark = [&](const auto& all) {
    for (const auto& each : all) {
      all_.mark_sources(each.source, sources);
    }
  };
  mark(units_);
  mark(jobs_);
  mark(busy_);
}

std::vector<Contribution> GlobalWindow::explain(Ticks x) {
  share(idle_);
  std::map<std::size_t, Contribution> by_source;
  for (const Unit& unit : units_) {
    const GlobalSource& source = all_.sources[unit.source];
    Contribution& term = by_source[unit.source];
    term.kind = source.is_sync ? Contribution::Kind::kSets : Contribution::Kind::kInterference;
    term.callback = source.callback;
    term.releases = unit.response < kHorizon ? all_.instances(unit.source, x, unit.response)
                                             : source.runs(*unit.node, x);
    if (unit.in_sets) {
      term.releases = std::min(term.releases, product(waits(x), kMostRunsInWait));
    }
    const Ticks part = unit.shared / own_executor_.cpus;
    term.total = sum(term.total, sum(unit.blocks, part));
    term.whole = sum(term.whole, unit.blocks);
    if (!unit.own && unit.response < kHorizon) {
      const Ticks later = std::max<Ticks>(0, begun_work(unit, x) - unit.blocks - unit.low);
      term.before = sum(term.before, std::max<Ticks>(0, part - later / own_executor_.cpus));
    }
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

/// Returns how many other instances of the path's own source are under way within x, if each is
/// under way for `response` after its stamp. With set_instances(), the time also has the stamp of
/// the first one, which may be earlier, so one of its instances is left out.
Ticks GlobalWindow::others(Ticks x, Ticks response) const {
  const GlobalSource& source = all_.sources[path_.source];
  const bool is_busy = start_ == WindowStart::kBusy && !source.is_sync;
  if (!is_busy && instances_ == 0) {
    return others_after_ready(x, response);
  }
  const Releases& releases = source.arrivals.front().releases;
  const Ticks since = instances_ > 0 ? std::max(response, path_.ready) : response;
  const Ticks all = std::max<Ticks>(1, releases.before(sum(x, since))) - 1;
  return is_busy ? all : std::min(all, others_after_ready(x, response));
}

/// Returns how many instances of the path's own source, besides those of set_instances(), run a
/// callback of the path within x. Those of before have ended when the first one is ready. Within a
/// time that begins earlier, they have run for `response` after their stamps, at most.
Ticks GlobalWindow::others_on_path(Ticks x, Ticks response) const {
  const Releases& releases = all_.sources[path_.source].arrivals.front().releases;
  const Ticks late = start_ == WindowStart::kBusy ? response : path_.ready;
  return std::max<Ticks>(0, releases.before(sum(x, late)) - instances_);
}

/// Returns how many instances of before the path's own one may be under way when it is ready.
Ticks GlobalWindow::earlier(Ticks response) const {
  const Releases& releases = all_.sources[path_.source].arrivals.front().releases;
  return std::max<Ticks>(1, releases.before(response)) - 1;
}

/// Returns whether the path waits for no later instance of this callback of its own: instances of
/// one callback run in the order of their release, and no group lets a later one be before another
/// callback of the path.
bool GlobalWindow::runs_in_order(std::size_t callback) const {
  return all_.pool.kind == Pool::kEnough && !all_.pool.runs_sets && path_.single &&
         !all_.sources[path_.source].is_sync && all_.workload.scheduler == 0 &&
         all_.members[callback].empty();
}

/// Returns the same as others() for the time x from when the path is ready.
Ticks GlobalWindow::others_after_ready(Ticks x, Ticks response) const {
  const GlobalSource& source = all_.sources[path_.source];
  if (source.is_sync) {
    return std::max<Ticks>(0, all_.instances(path_.source, x, response) - 1);
  }
  const Releases& releases = source.arrivals.front().releases;
  const Ticks later = releases.before(sum(x, path_.ready)) - 1;
  return earlier(response) + std::max<Ticks>(0, later);
}

/// Returns how many instances of a source are under way within x, without that of the path.
Ticks GlobalWindow::instances_beside_path(std::size_t source, Ticks x, Ticks response) const {
  if (source == path_.source) {
    return others(x, response);
  }
  const Ticks instances = all_.instances(source, x, response);
  return std::min(instances, work_in_phase(source, x, response, 1, false));
}

Ticks GlobalWindow::background(Ticks x) const {
  return product(own_executor_.all_cpus, product(milliseconds(x), all_.workload.background));
}

/// Returns the most work within x of callbacks of a source other than the path's own, of which each
/// instance ends `response` after its stamp and does `work`.
Ticks GlobalWindow::work_of(std::size_t index, Ticks x, Ticks response, Ticks work,
                            bool in_sequence) const {
  const GlobalSource& source = all_.sources[index];
  Ticks result = kHorizon;
  if (source.is_sync || !in_sequence) {
    result = product(all_.instances(index, x, response), work);
  }
  if (in_sequence) {
    const Ticks span = sum(x, sum(response, source.earlier));
    result = std::min(result, carried_in_work(span, work, source.arrivals.front().releases));
  }
  const bool is_own = index == path_.source;
  return is_own ? result : std::min(result, work_in_phase(index, x, response, work, in_sequence));
}

/// Sets the work of a unit within x.
void GlobalWindow::measure(Unit& unit, Ticks x) const {
  const GlobalSource& source = all_.sources[unit.source];
  if (unit.own) {
    measure_own(unit, x);
  } else {
    unit.total = unit.response < kHorizon
                     ? work_of(unit.source, x, unit.response, unit.work, unit.in_sequence)
                     : product(source.runs(*unit.node, x), unit.node->work);
    if (is_long(source, unit.response)) {
      unit.total = std::min(unit.total, work_by_queues(unit, x));
    }
    unit.blocks = unit.waits_whole ? unit.total : 0;
  }
  for (const GlobalNode* each : unit.whole) {
    unit.blocks = sum(unit.blocks, work_of_part(unit.source, *each, x));
  }
  unit.blocks = std::min(unit.blocks, unit.total);
  unit.rest = std::max<Ticks>(0, unit.total - unit.blocks - unit.low);
  if (unit.at_start && start_ == WindowStart::kBusy) {
    unit.begun = std::clamp<Ticks>(begun_work(unit, x) - unit.blocks - unit.low, 0, unit.rest);
  }
}

/// Sets the work of a unit of the path's own source within x, and what counts whole.
void GlobalWindow::measure_own(Unit& unit, Ticks x) const {
  const bool is_busy = start_ == WindowStart::kBusy;
  if (unit.is_last && instances_ > 0 && !is_busy && keeps_order()) {
    unit.total = unit.blocks = 0;  // those that follow run after the path
    return;
  }
  if (unit.on_path && instances_ > 0) {
    unit.total = product(others_on_path(x, unit.response), unit.work);
    const Releases& releases = all_.sources[unit.source].arrivals.front().releases;
    const Ticks later = std::max<Ticks>(0, releases.before(sum(x, path_.ready)) - instances_);
    const bool waits = unit.waits_whole && !runs_in_order(unit.callback);
    unit.blocks = waits ? product(later, unit.work) : 0;
    return;
  }
  if (unit.response >= kHorizon) {
    unit.total = unit.on_path
                     ? kHorizon
                     : product(all_.sources[unit.source].runs(*unit.node, x), unit.node->work);
    unit.blocks = unit.waits_whole ? unit.total : 0;
    return;
  }
  // With kBusy the path's own instance may be released after x. Then one more of the others may run
  // all of its callbacks beside the path, also those that the path's end releases.
  const Ticks one_more = is_busy && !unit.on_path ? std::max(unit.once, unit.work) : unit.once;
  unit.total = sum(product(others(x, unit.response), unit.work), one_more);
  unit.blocks = 0;
  if (unit.waits_whole) {
    const bool in_order = unit.on_path && runs_in_order(unit.callback);
    const Ticks beside = in_order ? earlier(unit.response) : others_after_ready(x, unit.response);
    unit.blocks = sum(product(beside, unit.work), unit.once);
  }
  unit.total = sum(unit.total, is_busy ? unit.before : 0);
  const GlobalSource& source = all_.sources[unit.source];
  if (!unit.on_path && is_long(source, unit.response)) {
    unit.total =
        std::min(unit.total, product(source.runs_by_queues(*unit.node, x), unit.node->work));
    unit.blocks = std::min(unit.blocks, unit.total);
  }
}

/// Sets the work of each unit within x. Returns what counts whole, besides the path's own work.
Ticks GlobalWindow::wait(Ticks x) {
  Ticks result = product(own_executor_.all_cpus, all_.workload.stall);
  if (all_.workload.background > 0) {
    result = sum(result, background(x));
  }
  for (const Low& low : lows_) {
    result = sum(result, product(std::max<Ticks>(1, instances_), low.work));
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
    const Ticks most = each.in_wait > 0 ? product(waiting, each.in_wait) : kHorizon;
    result = sum(result, product(std::min(runs_of(each, x), most), each.cost));
  }
  return result;
}

/// Returns how often runs cost something within x.
Ticks GlobalWindow::runs_of(const Jobs& jobs, Ticks x) const {
  const bool own = jobs.source == path_.source;
  if (jobs.on_path && instances_ > 0) {
    return sum(others_on_path(x, jobs.response), instances_);
  }
  if (jobs.response >= kHorizon) {
    return all_.sources[jobs.source].runs(*jobs.node, x);
  }
  const GlobalSource& source = all_.sources[jobs.source];
  const Ticks instances = instances_beside_path(jobs.source, x, jobs.response);
  const Ticks runs = product(sum(instances, own ? 1 : 0), jobs.node->count);
  return is_long(source, jobs.response) ? std::min(runs, source.runs_by_queues(*jobs.node, x))
                                        : runs;
}

}  // namespace rclrt::analysis::detail
