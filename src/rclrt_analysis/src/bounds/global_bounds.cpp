// SPDX-License-Identifier: Apache-2.0
#include "bounds/global_bounds.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "bounds/global_window.hpp"
#include "input_callbacks.hpp"

namespace rclrt::analysis::detail {

namespace {

constexpr Ticks kPeriodsToFollow = 100;
constexpr Ticks kLongestToFollow = 4;
constexpr int kExactSteps = 100;
constexpr Ticks kMostInstances = 200;
constexpr Ticks kCoarse = 1000;
constexpr std::int64_t kPartOfChains = 4;  // of all steps: those that are kept for the chains

/// The most releases of a timer that are looked at one by one, and about how many steps all of
/// these may take.
constexpr Ticks kMostCases = 400;
constexpr Ticks kStepsOfCases = 2'000'000;

/// Returns how many releases of a timer are looked at one by one. Each takes a step for each flow,
/// for a few paths of each callback.
Ticks most_cases(const GlobalSystem& system) {
  std::size_t nodes = 1;
  for (const GlobalSource& source : system.sources) {
    nodes += source.nodes.size();
  }
  const auto steps = static_cast<Ticks>(8 * nodes * (system.sources.size() + 1));
  return std::clamp<Ticks>(kStepsOfCases / steps, 1, kMostCases);
}

}  // namespace

GlobalBounds::GlobalBounds(const Workload& workload, const Core& component, GlobalPool pool,
                           bool scheduled, const Overheads& overheads, Effort effort)
    : workload_(workload),
      system_(workload, component, pool, scheduled, overheads),
      offsets_(system_, most_cases(system_)),
      all_steps_(effort),
      budget_(all_steps_.part(effort.steps - (effort.steps / kPartOfChains))) {
  Ticks longest = 0;
  for (const GlobalSource& source : system_.sources) {
    Ticks own = 0;
    for (const GlobalArrivals& each : source.arrivals) {
      own = std::max(own, each.releases.period);
    }
    longest = std::max(longest, own);
    limits_.push_back(product(kPeriodsToFollow, own));
    for (const GlobalNode& node : source.nodes) {
      longest = std::max(longest, node.longest);
    }
  }
  for (Ticks& limit : limits_) {
    limit = std::min(sum(limit, product(kLongestToFollow, longest)), kHorizon / 4);
  }
}

/// Returns the lowest bound of a path.
GlobalBounds::Segment GlobalBounds::respond(const GlobalPath& path, bool explains) {
  GlobalWindow window(system_, path);
  Begins begins;
  const std::optional<End> end = end_of(window, path, begins);
  if (!end) {
    return {};
  }
  Segment result{.response = end->response() - system_.tail(path), .why = {}};
  if (explains) {
    window.begin_when(end->start);
    window.set_instances(end->instances);
    window.set_phases(end->phases ? &offsets_.phases(path.source, *end->phases) : nullptr);
    window.end(end->x);  // explain() has the terms of the last end()
    result.why = window.explain(end->x);
    result.waited = -end->before;
    Ticks rest = *result.response + end->before;
    for (const Contribution& each : result.why) {
      rest -= each.total;
    }
    result.why.push_back({Contribution::Kind::kOwn, system_.sources[path.source].callback,
                          std::max<Ticks>(1, end->instances), rest});
  }
  return result;
}

/// Returns the end of a path with the lowest response. nullopt without a bound. `begins`: those of
/// the last time, are replaced.
///
/// There are two bounds where instances run in order. One counts the instances of the path since
/// the last time at which none was under way. The other one is for one instance, behind the work of
/// all that may still be under way. It may be lower where less urgent members of groups delay the
/// path, because these delay each instance.
std::optional<GlobalBounds::End> GlobalBounds::end_of(GlobalWindow& window, const GlobalPath& path,
                                                      Begins& begins) {
  const Ticks limit = limits_[path.source];
  if (!window.has_order()) {
    return end_of_one(window, path, begins.one, limit);
  }
  const std::optional<End> all = end_of_all(window, path, begins.in_order);
  if (all && all->instances == 1) {
    return all;  // the other one is no lower
  }
  window.set_instances(0);
  const std::optional<End> one = end_of_one(window, path, begins.one, limit);
  return !all || (one && one->response() < all->response()) ? one : all;
}

/// Returns the end of the path's instance with the longest response, of those that become ready
/// one after the other before all earlier ones have ended: Lehoczky, RTSS 1990, for one CPU.
std::optional<GlobalBounds::End> GlobalBounds::end_of_all(GlobalWindow& window,
                                                          const GlobalPath& path, Begin& begin) {
  const Ticks limit = limits_[path.source];
  std::optional<End> longest;
  Begin next = begin;
  for (Ticks count = 1;; ++count) {
    window.set_instances(count);
    std::optional<End> end = end_of_one(window, path, next, limit);
    if (!end || count > kMostInstances) {
      return std::nullopt;
    }
    if (count == 1) {
      begin = next;
    }
    end->instances = count;
    end->before = system_.shortest_time(path.source, count);
    if (!longest || end->response() > longest->response()) {
      longest = end;
    }
    if (sum(end->x, path.ready) <= system_.shortest_time(path.source, count + 1)) {
      return longest;
    }
  }
}

/// Returns the end of a path for the instances that the window has: the earliest one of three, for
/// the time since the path is ready, with any offsets and with those that timers state, and for the
/// time since all CPUs have interfering work.
std::optional<GlobalBounds::End> GlobalBounds::end_of_one(GlobalWindow& window,
                                                          const GlobalPath& path, Begin& begin,
                                                          Ticks limit) {
  window.begin_when(WindowStart::kReady);
  window.set_phases(nullptr);
  std::optional<End> found;
  if (const auto x = end_in(window, begin.x, limit)) {
    found = End{.x = *x, .start = WindowStart::kReady};
  }
  const Ticks most = found ? found->x - 1 : limit;
  if (const auto in_phase = uses_offsets_ ? end_by_offsets(window, path, most) : std::nullopt) {
    found = in_phase;
  }
  const Ticks lower = found ? found->x - 1 : limit;
  has_other_ = has_other_ || (path.begin == 0 && window.limits_carry_in());
  const bool tries_other = uses_both_ && path.begin == 0 && lower >= window.own();
  if (tries_other && window.limits_carry_in()) {
    window.begin_when(WindowStart::kBusy);
    if (window.end(lower) <= lower) {
      if (const auto other = end_in(window, begin.busy_x, lower)) {
        return End{.x = *other, .start = WindowStart::kBusy};
      }
    }
  }
  return found;
}

/// Returns the shortest time within which a path has ended, if it is at most `limit`. Where as much
/// work arrives as the CPUs do, x grows by nanoseconds. Every x with an end by x is a bound, so
/// after some steps x grows by a thousandth at least. `begin`: a time that is no longer, is
/// replaced by the result.
std::optional<Ticks> GlobalBounds::end_in(GlobalWindow& window, Ticks& begin, Ticks limit) {
  Ticks x = std::max(window.own(), begin);
  for (int step = 0;; ++step) {
    Ticks next = window.end(x);
    if (next <= x) {
      begin = x;
      return x;
    }
    if (step >= kExactSteps) {
      next = std::max(next, x + x / kCoarse);
    }
    if (next > limit || !budget_.take(window.size())) {
      return std::nullopt;
    }
    x = next;
  }
}

/// Returns the same as respond() for a part of a path. No response if the part leaves its executor.
GlobalBounds::Segment GlobalBounds::respond_to_part(const GlobalPath& path, std::size_t begin,
                                                    std::size_t end, Ticks ready, bool explains) {
  const auto part = system_.part_of(path, begin, end, ready);
  return part ? respond(*part, explains) : Segment{};
}

/// Returns the longest time until a message to a sync has been taken, if it arrives within
/// `arrival` and inputs wait for their turn, as in ready sets. nullopt without a bound.
std::optional<Ticks> GlobalBounds::taken_by_sync(std::size_t publisher, std::size_t sync,
                                                 Ticks arrival) {
  Ticks result = 0;
  for (std::size_t source = 0; source < system_.sources.size(); ++source) {
    const std::vector<GlobalNode>& nodes = system_.sources[source].nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const bool is_published = std::ranges::any_of(
          nodes[i].from, [&](std::size_t from) { return nodes[from].callback == publisher; });
      if (nodes[i].callback == sync && nodes[i].is_message && is_published) {
        const Segment taken = respond(system_.path_of(source, i, arrival), false);
        if (!taken.response) {
          return std::nullopt;
        }
        result = std::max(result, *taken.response);
      }
    }
  }
  return sum(arrival, result);
}

Joins GlobalBounds::joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals) {
  const auto arrival = [&](std::size_t n) -> std::optional<Ticks> {
    const auto first = callbacks.first(n);
    ChainBound before;
    const auto until = latency(first, joins_of(first, arrivals), before);
    if (!until) {
      return std::nullopt;
    }
    const Ticks arrives = sum(*until, system_.hop(callbacks[n - 1], callbacks[n]));
    return system_.pool.runs_sets ? taken_by_sync(callbacks[n - 1], callbacks[n], arrives)
                                  : std::optional(arrives);
  };
  const bool in_order = system_.pool.kind != Pool::kOfInstances &&
                        !(system_.pool.runs_sets && system_.pool.most_threads);
  return find_joins(workload_, callbacks, arrival, arrivals,
                    in_order ? Taken::kInOrder : Taken::kAnyOrder);
}

/// Returns the longest time until the end of a path in which each callback runs once, if its first
/// callback is ready after `ready`. The path may be divided into parts that are bounded one after
/// the other; the result is the least sum over all divisions. nullopt if there is none. `is_all`:
/// the path is a whole chain. `result` gets the terms.
std::optional<Ticks> GlobalBounds::follow(const GlobalPath& path, Ticks ready, bool is_all,
                                          ChainBound& result) {
  const std::size_t n = path.nodes.size();
  const auto callback_at = [&](std::size_t i) {
    return system_.sources[path.source].nodes[path.nodes[i]].callback;
  };
  const auto hop_to = [&](std::size_t i) {
    return system_.hop(callback_at(i - 1), callback_at(i));
  };
  std::vector<Ticks> until(n + 1, kHorizon);
  std::vector<std::size_t> begins(n + 1);
  until[0] = ready;
  for (std::size_t end = 1; end <= n; ++end) {
    for (std::size_t begin = 0; begin < end; ++begin) {
      const Ticks first = begin == 0 ? ready : sum(until[begin], hop_to(begin));
      if (first >= kHorizon) {
        continue;
      }
      const Segment found = respond_to_part(path, begin, end, first, false);
      if (found.response && sum(first, *found.response) < until[end]) {
        until[end] = sum(first, *found.response);
        begins[end] = begin;
      }
    }
  }
  if (until[n] >= kHorizon) {
    return std::nullopt;
  }
  if (begins[n] == 0 && is_all) {
    const Segment whole = respond_to_part(path, 0, n, ready, true);
    result.why.insert(result.why.end(), whole.why.begin(), whole.why.end());
    result.waited = whole.waited;
    return until[n];
  }
  for (std::size_t end = n; end > 0; end = begins[end]) {
    const std::size_t begin = begins[end];
    const Ticks hop = begin == 0 ? 0 : hop_to(begin);
    const Ticks first = sum(until[begin], hop);
    Contribution segment{Contribution::Kind::kSegment, callback_at(end - 1),
                         static_cast<Ticks>(end - begin), until[end] - first};
    for (const Contribution& each : respond_to_part(path, begin, end, first, true).why) {
      segment.whole += each.whole;
      segment.before += each.before;
    }
    result.why.push_back(segment);
    if (hop > 0) {
      result.why.push_back({Contribution::Kind::kHop, callback_at(begin), 1, hop});
    }
  }
  return until[n];
}

/// Returns the longest time from the release of the chain's timer or event to the end of its last
/// callback; nullopt without a bound. A set of a sync is complete when the chain's message has
/// arrived, or when that of another input has arrived, which is released at most Join::lag later.
/// `result` gets the terms.
std::optional<Ticks> GlobalBounds::latency(std::span<const std::size_t> callbacks,
                                           const Joins& joins, ChainBound& result) {
  Ticks total = system_.overheads.timer_jitter;
  if (total > 0) {
    result.why.push_back({Contribution::Kind::kLate, callbacks.front(), 1, total});
  }
  for (std::size_t begin = 0; begin < callbacks.size();) {
    std::size_t end = begin + 1;
    while (end < callbacks.size() && !is_sync(workload_, callbacks[end])) {
      ++end;
    }
    if (begin > 0) {
      Ticks ready = sum(total, system_.hop(callbacks[begin - 1], callbacks[begin]));
      for (const Join& join : joins.joins) {
        for (const std::size_t publisher : join.other) {
          if (join.at == begin) {
            const Ticks response =
                sum(system_.response_of(publisher), system_.hop(publisher, callbacks[begin]));
            ready = response >= kHorizon ? kHorizon : std::max(ready, join.lag + response);
          }
        }
      }
      if (ready > total) {
        result.why.push_back({Contribution::Kind::kOtherInput, callbacks[begin], 1, ready - total});
      }
      total = ready;
    }
    const auto path = system_.path_along(callbacks.subspan(begin, end - begin));
    const auto until =
        path ? follow(*path, total, begin == 0 && end == callbacks.size(), result) : std::nullopt;
    if (!until || *until >= kHorizon) {
      result.note = why_none(callbacks.subspan(begin, end - begin));
      result.why.clear();
      return std::nullopt;
    }
    total = *until;
    begin = end;
  }
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  return total;
}

RelyingBound GlobalBounds::bound(const model::Chain& chain) {
  solve();
  budget_ = all_steps_.part(steps_of_chain_);
  ChainBound result;
  result.level = workload_.lowest(chain.callbacks);
  KnownArrivals arrivals;
  Joins joins = joins_of(chain.callbacks, arrivals);
  result.bound = latency(chain.callbacks, joins, result);
  if (!result.bound) {
    return {std::move(result), {}};
  }
  return relying_bound(workload_, chain, std::move(result), std::move(joins));
}

Ticks GlobalBounds::most_pending(std::size_t callback) {
  solve();
  const auto& callbacks = workload_.application.callbacks;
  const auto& inputs = workload_.graph.publishers[callback];
  std::vector<Ticks> by_input(std::max<std::size_t>(inputs.size(), 1));
  for (const GlobalSource& source : system_.sources) {
    for (const GlobalNode& node : source.nodes) {
      if (!share_queue(callbacks[callback], callbacks[node.callback]) ||
          (is_sync(workload_, callback) && !node.is_message)) {
        continue;
      }
      if (node.response >= kHorizon) {
        return kHorizon;
      }
      // 1: releases at the very time of the end come first
      const Ticks instances = source.instances(1, node.response);
      for (std::size_t input = 0; input < by_input.size(); ++input) {
        const Ticks runs =
            is_sync(workload_, callback) ? runs_of(source, inputs[input]) : node.count;
        by_input[input] = sum(by_input[input], product(instances, runs));
      }
    }
  }
  return std::ranges::max(by_input);
}

/// Returns how often these callbacks run for each instance of the source.
Ticks GlobalBounds::runs_of(const GlobalSource& source, const std::vector<std::size_t>& callbacks) {
  Ticks result = 0;
  for (const GlobalNode& node : source.nodes) {
    const auto times = std::ranges::count(callbacks, node.callback);
    result = sum(result, node.is_message ? 0 : product(times, node.count));
  }
  return result;
}

}  // namespace rclrt::analysis::detail
