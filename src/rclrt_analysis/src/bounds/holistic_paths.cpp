// SPDX-License-Identifier: Apache-2.0
// Bounds of whole paths across CPUs.
//
// Let an instance of a path be released at time 0, and let it end at w. Each callback of the path
// releases the next one at its end. So at any time before w, one callback of the path is ready on
// its CPU, or its message is on the way, or the timer is late. While that callback does not run,
// its CPU runs
//  * another callback of at least its priority,
//  * a less urgent callback that had started before and holds the ceiling of a group: one for each
//    part of the path on one CPU, because the path has a ready callback there all the time,
//  * or overheads.
// So w is at most the work of the path and of all other callbacks that are at least as urgent as
// the path's least urgent one on the same CPU, as far as their instances overlap with the time from
// 0 to w. An instance overlaps if its timer was released before w, and if it ends after 0. The
// jitter of its end, less the jitter of a release, is the longest time from its release to its end.
//
// Where a segment or a callback is bounded by itself, the same interference counts once for each of
// them; here it counts once. Where the phase between the path's timer and another one is known,
// each instance in the hyperperiod has its own numbers of overlapping instances. The path's own
// timer has phase 0.
//
// Under EDF, an instance is as urgent only if its deadline is not after the latest deadline of the
// path's callbacks on that CPU. A timer's deadline counts from its nominal release, others from the
// arrival of the message.
//
// Holistic finds all bounds together: each is found under the assumption that all others hold up to
// that time. The idea of one interference for a whole path: Palencia and Harbour, "Exploiting
// precedence relations in the schedulability analysis of distributed real-time systems", RTSS 1999.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "bounds/holistic.hpp"
#include "bounds/kind.hpp"
#include "bounds/thread_priorities.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr Ticks kMostInstances = 64;

/// Returns the time from a release of a timer to the next one of another timer, which may be at the
/// same time.
Ticks from_release_to(Ticks release, Ticks offset, Ticks period) {
  return (((offset - release) % period) + period) % period;
}

}  // namespace

/// Instances of a callback that may overlap with an instance of a path.
struct Overlapping {
  std::size_t timer{};  ///< index into Workload::timers
  Ticks work{};         ///< of the instances of one release
  Ticks period{};
  Ticks jitter{};  ///< of all arrivals and, where they overlap from an earlier release, of the ends
  Ticks latest{};  ///< the longest time from a release to the end
  bool by_release{};      ///< each release of the timer brings the work once
  bool later{};           ///< the instance of the path's own release does not count
  Ticks until{kHorizon};  ///< releases from here on do not count

  /// Returns how many releases count in the time from 0 to w. `next`: the first release from 0 on,
  /// where it is known.
  Ticks count(Ticks w, std::optional<Ticks> next) const {
    w = std::min(w, until);
    if (!next) {
      return std::max<Ticks>(0, ceil_div(w + jitter, period));
    }
    const Ticks before = std::max<Ticks>(0, ceil_div(sum(latest, *next), period) - 1);
    const Ticks too_late = std::max<Ticks>(0, floor_div(*next - w, period));
    const Ticks first = *next + (later ? period : 0);
    return std::max<Ticks>(0, before - too_late) + std::max<Ticks>(0, ceil_div(w - first, period));
  }
};

void Holistic::find_paths() {
  const std::size_t n = workload_.wcet.size();
  priority_.resize(n);
  ceiling_.resize(n);
  for (const Core& core : cores_.cores) {
    if (kind_.orders_own_only && core.executors.size() > 1) {
      continue;  // all callbacks are as urgent as each other
    }
    const CoreProblem problem{workload_, core, flows_, overheads_, workload_.dispatch, {}};
    const std::vector<int> priority = thread_priorities(problem);
    const std::vector<int> ceiling = thread_ceilings(problem, priority);
    for (const std::size_t callback : core.callbacks) {
      priority_[callback] = priority[callback];
      ceiling_[callback] = ceiling[callback];
    }
  }
  paths_.resize(n);
  from_release_.assign(n, kHorizon);
  for (const std::size_t callback : workload_.graph.order) {
    const auto& inputs = workload_.graph.publishers[callback];
    PathFromTimer path;
    if (!inputs.empty()) {
      if (inputs.size() > 1 || inputs.front().size() > 1) {
        continue;
      }
      const std::size_t from = inputs.front().front();
      path = paths_[from];
      if (path.callbacks.empty()) {
        continue;
      }
      path.hops = sum(path.hops, hop(from, callback).max);
    }
    const std::size_t core = cores_.core_of[cores_.executor_of[callback]];
    if (path.callbacks.empty() || !at_once(path.callbacks.back(), callback)) {
      path.segments.push_back({core, priority_[callback]});
    }
    int& in_segment = path.segments.back().lowest;
    in_segment = std::min(in_segment, priority_[callback]);
    int& on_core = path.lowest.try_emplace(core, priority_[callback]).first->second;
    on_core = std::min(on_core, priority_[callback]);
    path.callbacks.push_back(callback);
    paths_[callback] = std::move(path);
    from_release_[callback] = 0;
  }
}

std::vector<Ticks> Holistic::path_bounds(Budget& budget) const {
  std::vector<Ticks> result(paths_.size(), kHorizon);
  for (std::size_t callback = 0; callback < paths_.size(); ++callback) {
    if (!paths_[callback].callbacks.empty() && from_release_[callback] < kHorizon) {
      result[callback] = path_bound(callback, budget).total;
    }
  }
  return result;
}

/// Returns the callbacks of the path's own release that run after its end: those that its last
/// callback releases, and those that follow. A more urgent one on its CPU may preempt it before it
/// returns.
std::vector<bool> Holistic::after_path(std::size_t last) const {
  std::vector<bool> result(workload_.wcet.size());
  std::vector<std::size_t> open{last};
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    for (const std::size_t to : workload_.graph.successors[from]) {
      if (!result[to] && !paths_[to].callbacks.empty()) {
        result[to] = true;
        open.push_back(to);
      }
    }
  }
  const auto core_of = [&](std::size_t callback) {
    return cores_.core_of[cores_.executor_of[callback]];
  };
  for (std::size_t each = 0; each < result.size(); ++each) {
    const bool preempts =
        workload_.order == Workload::Order::kAny || priority_[each] > priority_[last];
    if (core_of(each) == core_of(last) && preempts) {
      result[each] = false;
    }
  }
  return result;
}

/// Returns the latest deadline of the path's callbacks on a CPU, from the nominal release of its
/// timer. Absent if there is none, or if it does not order the callbacks of the CPU.
std::optional<Ticks> Holistic::latest_deadline(const PathFromTimer& path, std::size_t core) const {
  if (!by_deadline_ || cores_.cores[core].executors.size() > 1) {
    return std::nullopt;
  }
  Ticks latest = 0;
  for (std::size_t i = 0; i < path.callbacks.size(); ++i) {
    const std::size_t callback = path.callbacks[i];
    if (cores_.core_of[cores_.executor_of[callback]] != core) {
      continue;
    }
    const auto deadline = relative_deadline(workload_.application.callbacks[callback]);
    if (!deadline) {
      return std::nullopt;
    }
    Ticks arrival = 0;
    if (i > 0) {
      const std::size_t from = path.callbacks[i - 1];
      arrival = sum(from_release_[from], hop(from, callback).max);
    }
    latest = std::max(latest, sum(arrival, *deadline));
  }
  return latest;
}

std::vector<Overlapping> Holistic::overlapping(std::size_t last) const {
  const PathFromTimer& path = paths_[last];
  const std::size_t timer = path.callbacks.front();
  const std::vector<bool> after = after_path(last);
  std::vector<bool> on_path(after.size());
  for (const std::size_t callback : path.callbacks) {
    on_path[callback] = true;
  }
  std::vector<Overlapping> result;
  // `executes`: the work is done until the instance ends; else, when it arrives. `later`: the
  // instance of the path's own release does not count.
  const auto add = [&](std::size_t other, const Flow& flow, Ticks each, bool executes, bool later,
                       Ticks until) {
    if (each > 0) {
      const Ticks jitter = executes ? jitter_after(other, flow) : flow.jitter;
      result.push_back({flow.timer, product(flow.count, each), flow.period, jitter,
                        sum(least_[other], jitter + (executes ? 0 : 1)),
                        !paths_[other].callbacks.empty(),
                        later && workload_.timers[flow.timer] == timer, until});
    }
  };
  for (const auto& [core, lowest] : path.lowest) {
    const auto latest = latest_deadline(path, core);
    for (const std::size_t other : cores_.cores[core].callbacks) {
      const auto deadline = relative_deadline(workload_.application.callbacks[other]);
      const bool in_time = !latest || deadline;
      const bool urgent = priority_[other] >= lowest && in_time;
      for (const Flow& flow : flows_[other]) {
        const Ticks own = flow.runs && urgent ? workload_.wcet[other] : 0;
        // The last callback does not return before its messages are queued.
        if (latest || !urgent || after[other]) {
          const bool later = on_path[other] || after[other];
          add(other, flow, own, true, later,
              latest && deadline ? *latest - *deadline + 1 : kHorizon);
          add(other, flow, workload_.dispatch, false, on_path[other], kHorizon);
        } else {
          add(other, flow, sum(own, workload_.dispatch), true, on_path[other], kHorizon);
        }
      }
    }
  }
  return result;
}

/// Returns the longest rest of a less urgent callback that may hold up a part of a path.
Started Holistic::started_before(const PathFromTimer& path, const Segment& segment) const {
  const bool deadlines = latest_deadline(path, segment.core).has_value();
  Started longest;
  for (const std::size_t other : cores_.cores[segment.core].callbacks) {
    if (!deadlines && priority_[other] >= path.lowest.at(segment.core)) {
      continue;
    }
    const bool in_group = workload_.application.callbacks[other].group.has_value();
    const bool holds = deadlines ? in_group : ceiling_[other] >= segment.lowest;
    const Ticks rest = holds ? workload_.wcet[other] : 0;
    if (sum(rest, workload_.dispatch) > longest.work) {
      longest = {sum(rest, workload_.dispatch), other};
    }
  }
  return longest;
}

/// Returns the terms that count once for each instance of a path.
Holistic::Latency Holistic::constant_terms(const PathFromTimer& path) const {
  Latency once;
  const auto add = [&](Contribution::Kind kind, std::size_t callback, Ticks total) {
    if (total > 0) {
      once.total = sum(once.total, total);
      once.why.push_back({kind, callback, 1, total});
    }
  };
  const std::size_t timer = path.callbacks.front();
  Ticks own = 0;
  for (std::size_t i = 0; i < path.callbacks.size(); ++i) {
    own = sum(own, sum(workload_.wcet[path.callbacks[i]], workload_.dispatch));
    if (i > 0) {
      add(Contribution::Kind::kHop, path.callbacks[i],
          hop(path.callbacks[i - 1], path.callbacks[i]).max);
    }
  }
  add(Contribution::Kind::kOwn, timer, own);
  add(Contribution::Kind::kLate, timer, overheads_.timer_jitter);
  for (const Segment& segment : path.segments) {
    const Started started = started_before(path, segment);
    const auto threads = static_cast<Ticks>(cores_.cores[segment.core].executors.size());
    const bool polls = workload_.order == Workload::Order::kAnyToTheEnd;
    add(Contribution::Kind::kStarted, started.callback,
        sum(started.work, polls ? product(threads, overheads_.polling) : 0));
  }
  add(Contribution::Kind::kStall, timer,
      product(static_cast<Ticks>(path.lowest.size()), overheads_.stall));
  return once;
}

/// Returns the bound of the path to the callback; its total is kHorizon if there is none.
Holistic::Latency Holistic::path_bound(std::size_t last, Budget& budget) const {
  const PathFromTimer& path = paths_[last];
  const std::vector<Overlapping> others = overlapping(last);
  for (const Overlapping& other : others) {
    if (other.jitter >= kMaxTicks) {
      return {kHorizon, {}};
    }
  }
  const Latency once = constant_terms(path);
  const auto cores = static_cast<Ticks>(path.lowest.size());
  const auto background = [&](Ticks w) {
    const Ticks milliseconds = ceil_div(sum(w, kMillisecond), kMillisecond);
    return product(cores, product(milliseconds, overheads_.background));
  };
  const auto& callbacks = workload_.application.callbacks;
  const std::size_t own = workload_.runs[path.callbacks.front()].front().timer;
  const Ticks period = workload_.period[own];
  const auto own_offset = stated_offset(callbacks[path.callbacks.front()]);
  std::vector<bool> in_phase(workload_.timers.size());
  in_phase[own] = true;
  Ticks hyperperiod = period;
  for (const Overlapping& other : others) {
    if (in_phase[other.timer] || !own_offset ||
        !stated_offset(callbacks[workload_.timers[other.timer]])) {
      continue;
    }
    const Ticks all = product(hyperperiod, other.period / std::gcd(hyperperiod, other.period));
    if (all / period <= kMostInstances) {
      hyperperiod = all;
      in_phase[other.timer] = true;
    }
  }
  Latency worst;
  for (Ticks instance = 0; instance < hyperperiod / period; ++instance) {
    const auto next = [&](const Overlapping& other) -> std::optional<Ticks> {
      if (!other.by_release || !in_phase[other.timer]) {
        return std::nullopt;
      }
      if (other.timer == own) {
        return 0;
      }
      const Ticks release = *own_offset + instance * period;
      return from_release_to(release, *stated_offset(callbacks[workload_.timers[other.timer]]),
                             other.period);
    };
    const auto work = [&](Ticks w) {
      Ticks total = sum(sum(once.total, 1), overheads_.background > 0 ? background(w) : 0);
      for (const Overlapping& other : others) {
        total = sum(total, product(other.count(w, next(other)), other.work));
      }
      return total;
    };
    const auto end = fixed_point(sum(once.total, 1), 8 * others.size(), budget, work);
    if (!end) {
      return {kHorizon, {}};
    }
    if (*end - 1 <= worst.total) {
      continue;
    }
    worst = {*end - 1, once.why};
    std::map<std::size_t, Contribution> by_timer;
    for (const Overlapping& other : others) {
      const Ticks count = other.count(*end, next(other));
      if (count > 0) {
        Contribution& term = by_timer
                                 .try_emplace(other.timer, Contribution::Kind::kInterference,
                                              workload_.timers[other.timer], Ticks{0}, Ticks{0})
                                 .first->second;
        term.releases = std::max(term.releases, count);
        term.total = sum(term.total, product(count, other.work));
      }
    }
    for (const auto& [timer, term] : by_timer) {
      worst.why.push_back(term);
    }
    if (overheads_.background > 0) {
      worst.why.push_back({Contribution::Kind::kBackground, last,
                           ceil_div(sum(*end, kMillisecond), kMillisecond), background(*end)});
    }
  }
  return worst;
}

}  // namespace rclrt::analysis::detail
