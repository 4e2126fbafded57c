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
/// its release to the end. Adds the spans for which the result is the same: there, the work of some
/// instances is complete, and that of the next one is no more than its part in the first.
Ticks carried_in_work(Ticks span, Ticks work, const Releases& releases, SameTimes& spans) {
  const Ticks most = releases.before(span);
  const bool is_done = span - shortest_time(releases, most) >= product(2, work);
  if (const Ticks done = is_done ? most : most - 1; done > 0) {
    spans = {
        sum(shortest_time(releases, done), product(2, work)),
        std::min(sum(shortest_time(releases, done + 1), work), shortest_time(releases, done + 2))};
    if (spans.contains(span)) {
      return product(done, work);
    }
  }
  spans = {span, span};
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
  idle_ = first_idle(&Unit::rest, idle_);
  if (start_ == WindowStart::kBusy) {
    // The work in this case is between those of two simpler ones.
    idle_ = first_idle_between(first_idle(&Unit::begun, idle_) - 1, idle_);
  }
  return sum(constant, idle_ - 1);
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

/// Narrows `same_` to the x for which the most releases within x and the time `later` are as many.
void GlobalWindow::keep_count(const Releases& releases, Ticks x, Ticks later) {
  const Ticks count = releases.before(sum(x, later));
  if (count == 0 || sum(x, later) >= kHorizon) {
    same_.narrow(x, x);
  } else {
    same_.narrow(shortest_time(releases, count) + 1 - later,
                 shortest_time(releases, count + 1) - later);
  }
}

/// Narrows `same_` to the x for which GlobalSystem::instances() is the same within x and `later`.
void GlobalWindow::keep_instances(std::size_t index, Ticks x, Ticks later, Ticks response) {
  const GlobalSource& source = all_.sources[index];
  for (const GlobalArrivals& each : source.arrivals) {
    keep_count(each.releases, x, sum(later, sum(response, source.earlier)));
  }
  const auto ready = all_.ready_after_stamp(source);
  if (source.inputs.empty() || response >= kHorizon || !ready) {
    return;
  }
  for (const std::vector<GlobalPublisher>& input : source.inputs) {
    for (const GlobalPublisher& each : input) {
      const Ticks latest = all_.sources[each.source].nodes[each.message].response;
      if (latest < kHorizon) {
        keep_instances(each.source, x, sum(later, std::max<Ticks>(0, response - *ready)), latest);
      }
    }
  }
}

/// Returns the next one of the values of a unit, if it is known for x; else computes it.
template <typename Compute>
Ticks GlobalWindow::known(Ticks x, Compute compute) {
  if (used_ == known_->size()) {
    known_->emplace_back();
  }
  Known& known = (*known_)[used_++];
  if (!known.same.contains(x)) {
    const SameTimes before = std::exchange(same_, {});
    known.value = compute();
    known.same = std::exchange(same_, before);
  }
  same_.narrow(known.same.first, known.same.last);
  return known.value;
}

/// Returns GlobalSource::runs_by_queues().
Ticks GlobalWindow::queued_runs(const GlobalSource& source, const GlobalNode& node, Ticks x) {
  return known(x, [&] {
    for (const GlobalArrivals& each : source.arrivals) {
      keep_count(each.releases, x, node.on_way);
    }
    return source.runs_by_queues(node, x);
  });
}

/// Returns the most work within x of callbacks of a source, of which each instance ends `response`
/// after its stamp and does `work`, whenever others are released.
Ticks GlobalWindow::work_at_any_phase(std::size_t index, Ticks x, Ticks response, Ticks work,
                                      bool in_sequence) {
  const GlobalSource& source = all_.sources[index];
  Ticks result = kHorizon;
  if (source.is_sync || !in_sequence) {
    result = product(all_.instances(index, x, response), work);
    keep_instances(index, x, 0, response);
  }
  if (in_sequence) {
    SameTimes spans;
    const Ticks later = sum(response, source.earlier);
    const Releases& releases = source.arrivals.front().releases;
    result = std::min(result, carried_in_work(sum(x, later), work, releases, spans));
    same_.narrow(spans.first - later, spans.last - later);
  }
  return result;
}

/// Returns the same for callbacks of a source other than the path's own, by what is known of when
/// it is released.
Ticks GlobalWindow::work_of(std::size_t index, Ticks x, Ticks response, Ticks work,
                            bool in_sequence) {
  const Ticks result =
      known(x, [&] { return work_at_any_phase(index, x, response, work, in_sequence); });
  const bool is_own = index == path_.source;
  return is_own ? result : std::min(result, work_in_phase(index, x, response, work, in_sequence));
}

/// Sets the work of a unit within x.
void GlobalWindow::measure(Unit& unit, Ticks x) {
  if (unit.own) {
    measure_own(unit, x);
    unit.blocks = std::min(unit.blocks, unit.total);
  } else {
    measure_other(unit, x);
  }
  unit.rest = std::max<Ticks>(0, unit.total - unit.blocks - unit.low);
  if (unit.at_start && start_ == WindowStart::kBusy) {
    unit.begun = std::clamp<Ticks>(begun_work(unit, x) - unit.blocks - unit.low, 0, unit.rest);
  }
}

/// Sets the work of a unit of another source within x, and what counts whole.
void GlobalWindow::measure_other(Unit& unit, Ticks x) {
  const bool in_phase = phase_of(unit.source) != nullptr;  // then, these change with each x
  if (!in_phase && unit.same.contains(x)) {
    return;
  }
  const GlobalSource& source = all_.sources[unit.source];
  known_ = &unit.known;
  used_ = 0;
  same_ = {};
  unit.total = unit.response < kHorizon
                   ? work_of(unit.source, x, unit.response, unit.work, unit.in_sequence)
                   : product(queued_runs(source, *unit.node, x), unit.node->work);
  if (is_long(source, unit.response)) {
    unit.total = std::min(unit.total, work_by_queues(unit, x));
  }
  unit.blocks = unit.waits_whole ? unit.total : 0;
  for (const GlobalNode* each : unit.whole) {
    unit.blocks = sum(unit.blocks, work_of_part(unit.source, *each, x));
  }
  unit.blocks = std::min(unit.blocks, unit.total);
  unit.same = in_phase ? kNoTimes : same_;
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
