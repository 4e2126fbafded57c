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
// timer has phase 0. For an event with jitter, time 0 is the arrival of the path's instance, so
// another one of its instances arrives at least n periods less the jitter before or after it.
//
// Under EDF, an instance is as urgent only if its deadline is not after L, the latest deadline of
// the path's callbacks on that CPU, each from its latest arrival on, plus the lateness of a timer.
// An instance B that is due after L has started before the path's callback is ready, and holds it
// up only while B's ceiling, the shortest relative deadline in its group, is no longer than the
// relative deadline of X, the waiting instance that is due first. X became ready after B started,
// because X is due earlier. So it was released at most that lateness before B. If X had a relative
// deadline at least as long as that of B, it would be due after the path's callback, and not first.
// So B is in a group with a shorter relative deadline. Suppose that B had preempted another such
// instance that holds up the callback as well. Then B's relative deadline is shorter than the
// ceiling of that one, and so than that of the X for which it waits, which is the same
// contradiction. So there is at most one. An instance that is due by L arrives by L - D, for its
// relative deadline D. If that and its longest response are before 0, it has ended by then.
//
// If several EDF executors share a CPU, then while a callback of executor E is ready there, the CPU
// runs another callback of E, for which the above holds, or a callback of another executor that may
// run meanwhile (EdfWorkers). The latest deadline L is that of the path's callbacks of one
// executor.
//
// Holistic finds all bounds together: each is found under the assumption that all others hold up to
// that time. The idea of one interference for a whole path: Palencia and Harbour, "Exploiting
// precedence relations in the schedulability analysis of distributed real-time systems", RTSS 1999.
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "bounds/holistic.hpp"
#include "bounds/kind.hpp"
#include "bounds/path_window.hpp"
#include "bounds/thread_priorities.hpp"

namespace rclrt::analysis::detail {

/// The most instances of a path that are examined for their own phases.
constexpr Ticks kMostInstances = 64;

void Holistic::find_paths() {
  const std::size_t n = workload_.wcet.size();
  priority_.resize(n);
  ceiling_.resize(n);
  for (const Core& core : cores_.cores) {
    if (kind_.orders_own_only && core.executors.size() > 1) {
      workers_.emplace(workload_.application);
      continue;  // all callbacks are as urgent as each other
    }
    const CoreProblem problem{workload_, core, flows_, overheads_, workload_.dispatch, {}};
    const std::vector<int> priority = thread_priorities(problem.workload, problem.core);
    const std::vector<int> ceiling = thread_ceilings(problem.workload, problem.core, priority);
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
      path.segments.push_back({core, cores_.executor_of[callback], priority_[callback]});
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

/// Returns the bounds of the paths to `only`, or to all callbacks if that is empty; 0 for others.
std::vector<Ticks> Holistic::path_bounds(std::span<const std::size_t> only, Budget& budget) const {
  std::vector<Ticks> result(from_release_.size(), kHorizon);
  for (std::size_t callback = 0; callback < paths_.size(); ++callback) {
    if (!only.empty() && std::ranges::find(only, callback) == only.end()) {
      result[callback] = 0;
    } else if (!paths_[callback].callbacks.empty() && from_release_[callback] < kHorizon) {
      result[callback] = path_bound(callback, budget).total;
    }
  }
  return result;
}

/// Returns, for each callback, whether its run for the same release of the timer comes after the
/// end of the path's last callback, so that it does not delay the path. This holds for callbacks
/// that the last one releases, directly or through others, except those on its CPU that may preempt
/// it before it returns.
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

/// Returns the latest absolute deadline of the path's callbacks of the executor, measured from the
/// nominal release of the path's timer, if each arrives as late as possible; plus the lateness of a
/// timer. nullopt if one has no deadline, or if deadlines do not order the executor's callbacks.
std::optional<Ticks> Holistic::latest_deadline(const PathFromTimer& path,
                                               std::size_t executor) const {
  if (!by_deadline_) {
    return std::nullopt;
  }
  Ticks latest = 0;
  for (std::size_t i = 0; i < path.callbacks.size(); ++i) {
    const std::size_t callback = path.callbacks[i];
    if (cores_.executor_of[callback] != executor) {
      continue;
    }
    const auto deadline = edf_deadline(workload_.application.callbacks[callback]);
    if (!deadline) {
      return std::nullopt;
    }
    Ticks arrival = overheads_.timer_jitter;
    if (i > 0) {
      const std::size_t from = path.callbacks[i - 1];
      arrival = sum(from_release_[from], hop(from, callback).max);
    }
    latest = std::max(latest, sum(arrival, *deadline));
  }
  return sum(latest, overheads_.timer_jitter);
}

/// Returns the executors of the path's callbacks on the CPU `core`.
std::vector<Holistic::Visitor> Holistic::visitors_of(const PathFromTimer& path,
                                                     std::size_t core) const {
  std::vector<Visitor> result;
  for (const std::size_t callback : path.callbacks) {
    const std::size_t executor = cores_.executor_of[callback];
    if (cores_.core_of[executor] == core &&
        std::ranges::find(result, executor, &Visitor::executor) == result.end()) {
      result.push_back({executor, latest_deadline(path, executor)});
    }
  }
  return result;
}

/// Returns the urgency of the callback `other` on the CPU `core`. `visitors`: of this path and CPU.
Holistic::Urgency Holistic::urgency_of(const PathFromTimer& path, std::size_t core,
                                       const std::vector<Visitor>& visitors,
                                       std::size_t other) const {
  const std::size_t executor = cores_.executor_of[other];
  const auto own = std::ranges::find(visitors, executor, &Visitor::executor);
  if (kind_.orders_own_only && cores_.cores[core].executors.size() > 1) {
    const bool delays = std::ranges::any_of(visitors, [&](const Visitor& each) {
      return each.executor != executor && workers_->may_delay(other, each.executor);
    });
    if (delays || own == visitors.end()) {
      return {delays, {}};
    }
  }
  const auto latest = own != visitors.end() ? own->latest : std::nullopt;
  const bool in_time = !latest || edf_deadline(workload_.application.callbacks[other]);
  return {priority_[other] >= path.lowest.at(core) && in_time, latest};
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
  // Adds the instances of `other` from a flow. `executes`: their work may delay the path until they
  // end; otherwise, only when they arrive. `later`: the instance of the path's own release does not
  // delay the path.
  const auto add = [&](std::size_t other, const Flow& flow, Ticks each, bool executes, bool later,
                       Ticks until) {
    if (each > 0) {
      const Ticks jitter = executes ? jitter_after(other, flow) : flow.jitter;
      const Ticks within = executes ? within_after(other, flow) : flow.within;
      result.push_back({flow.timer, product(flow.count, each), flow.period, jitter,
                        sum(least_[other], jitter + (executes ? 0 : 1)),
                        !paths_[other].callbacks.empty(),
                        later && workload_.timers[flow.timer] == timer, until,
                        workload_.jitter[flow.timer], flow.distance, within});
    }
  };
  for (const auto& [core, lowest] : path.lowest) {
    const std::vector<Visitor> visitors = visitors_of(path, core);
    for (const std::size_t other : cores_.cores[core].callbacks) {
      const auto deadline = edf_deadline(workload_.application.callbacks[other]);
      const auto [urgent, latest] = urgency_of(path, core, visitors, other);
      for (const Flow& flow : flows_[other]) {
        const Ticks own = flow.runs && urgent ? workload_.wcet[other] : 0;
        // The last callback does not return before its messages are queued.
        if (latest || !urgent || after[other]) {
          const bool later = on_path[other] || after[other];
          const Ticks until = latest && deadline ? *latest - *deadline + 1 : kHorizon;
          // So a path depends on responses of other callbacks: every round has to bound it anew.
          if (sum(until, responses_[other]) > 0) {
            add(other, flow, own, true, later, until);
          }
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
  const bool own_only = kind_.orders_own_only;
  const std::vector<Visitor> visitors = visitors_of(path, segment.core);
  Started longest;
  for (const std::size_t other : cores_.cores[segment.core].callbacks) {
    const auto [urgent, latest] = urgency_of(path, segment.core, visitors, other);
    if (urgent && !latest) {
      continue;
    }
    const bool in_group = workload_.application.callbacks[other].group.has_value() &&
                          cores_.executor_of[other] == segment.executor;
    const bool holds = own_only ? in_group : ceiling_[other] >= segment.lowest;
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
    // Under EDF, an instance of each other executor may be about to start.
    const Ticks of_others = kind_.orders_own_only ? product(threads - 1, workload_.dispatch) : 0;
    add(Contribution::Kind::kStarted, started.callback,
        sum(sum(started.work, of_others), polls ? product(threads, overheads_.polling) : 0));
  }
  add(Contribution::Kind::kStall, timer,
      product(static_cast<Ticks>(path.lowest.size()), overheads_.stall));
  return once;
}

/// Returns, for each of `others`, the time from the release of the path's instance `number` to the
/// next release of that timer (0: at the same time). nullopt if their phase is not known: the timer
/// is not in `in_phase`. The path's own timer, `own`, has 0.
std::vector<std::optional<Ticks>> Holistic::next_releases(const std::vector<Overlapping>& others,
                                                          const std::vector<bool>& in_phase,
                                                          std::size_t own, Ticks number) const {
  const auto offset = [&](std::size_t timer) {
    return stated_offset(workload_.application.callbacks[workload_.timers[timer]]);
  };
  std::vector<std::optional<Ticks>> result(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::size_t timer = others[i].timer;
    if (!others[i].by_release || !in_phase[timer]) {
      continue;
    }
    if (timer == own) {
      result[i] = 0;
      continue;
    }
    const Ticks release = *offset(own) + (number * workload_.period[own]);
    result[i] = from_release_to(release, *offset(timer), others[i].period);
  }
  return result;
}

/// Chooses the timers with phases that the analysis uses, as flags in `in_phase`: those with stated
/// offsets, as long as the hyperperiod stays short. Returns the number of instances of the path
/// with different phases.
Ticks Holistic::find_in_phase(const std::vector<Overlapping>& others, std::size_t own,
                              std::vector<bool>& in_phase) const {
  const auto states = [&](std::size_t timer) {
    return stated_offset(workload_.application.callbacks[workload_.timers[timer]]).has_value();
  };
  in_phase.assign(workload_.timers.size(), false);
  in_phase[own] = true;
  // Those with the shortest common period come first, so the order of the file decides nothing.
  std::vector<std::tuple<Ticks, Ticks, std::size_t>> candidates;
  const Ticks period = workload_.period[own];
  for (const Overlapping& other : others) {
    if (states(own) && states(other.timer)) {
      candidates.emplace_back(product(period, other.period / std::gcd(period, other.period)),
                              other.period, other.timer);
    }
  }
  std::ranges::sort(candidates);
  Ticks hyperperiod = period;
  for (const auto& [with_own, other, timer] : candidates) {
    const Ticks all = product(hyperperiod, other / std::gcd(hyperperiod, other));
    if (all / period <= kMostInstances) {
      hyperperiod = all;
      in_phase[timer] = true;
    }
  }
  return hyperperiod / period;
}

/// Returns the bound of the path to the callback; its total is kHorizon if there is none.
Holistic::Latency Holistic::path_bound(std::size_t last, Budget& budget) const {
  const PathFromTimer& path = paths_[last];
  const std::vector<Overlapping> others = overlapping(last);
  if (std::ranges::any_of(others, [](const auto& other) { return other.jitter >= kMaxTicks; })) {
    return {kHorizon, {}};
  }
  const Latency once = constant_terms(path);
  const auto cores = static_cast<Ticks>(path.lowest.size());
  const std::size_t own = workload_.runs[path.callbacks.front()].front().timer;
  std::vector<bool> in_phase;
  const Ticks instances = find_in_phase(others, own, in_phase);
  // Since the last round, jitter has only grown.
  const Ticks start = instances == 1 ? from_release_[last] + 1 : 0;
  Latency worst;
  for (Ticks number = 0; number < instances; ++number) {
    const PathWindow window{others, next_releases(others, in_phase, own, number), once.total,
                            product(cores, overheads_.background)};
    const auto end = window.end(start, budget);
    if (!end) {
      return {kHorizon, {}};
    }
    if (*end - 1 > worst.total) {
      worst = {*end - 1, once.why};
      window.explain(*end, workload_.timers, worst.why);
    }
  }
  return worst;
}

}  // namespace rclrt::analysis::detail
