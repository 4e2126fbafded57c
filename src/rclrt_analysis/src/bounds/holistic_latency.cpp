// SPDX-License-Identifier: Apache-2.0
// The bounds of chains, composed of those of callbacks and segments.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "bounds/holistic.hpp"
#include "bounds/kind.hpp"
#include "bounds/sync_inputs.hpp"

namespace rclrt::analysis::detail {

/// Adds the time of callbacks on one CPU that release each other at once to `latency`. In a wait
/// set, the message to the next callback arrives before the current ready set ends, so the next
/// callback is in the next set: only the first callback waits for the rest of a set.
void Holistic::add_segment(std::span<const std::size_t> callbacks, Latency& latency) const {
  Latency one_by_one;
  std::size_t from = 0;
  for (std::size_t i = 1; i <= callbacks.size(); ++i) {
    if (i == callbacks.size() || !predecessors_[callbacks[i]]) {
      add_callbacks(callbacks.subspan(from, i - from), one_by_one);
      from = i;
    }
  }
  Ticks waiting = 0;
  for (const std::size_t callback : callbacks) {
    const bool timer =
        workload_.application.callbacks[callback].kind() == model::CallbackKind::kTimer;
    waiting = sum(waiting, timer && kind_.skips ? 1 : most_in_queue(callback));
  }
  const Core& core = cores_.cores[cores_.core_of[cores_.executor_of[callbacks.front()]]];
  if (runs_sets_ && callbacks.size() > 1 && core.executors.size() == 1 && waiting < kMaxTicks) {
    Budget budget({.check_interrupt = check_interrupt_});
    const CoreProblem problem{workload_, core, flows_, overheads_, workload_.dispatch, kind_.skips};
    const Ticks sets = ready_sets(problem, callbacks.back(), waiting, budget);
    if (sets < one_by_one.total) {
      latency.total = sum(latency.total, sets);
      latency.why.push_back({Contribution::Kind::kReadySets, callbacks.back(), waiting + 1, sets});
      return;
    }
  }
  latency.total = sum(latency.total, one_by_one.total);
  latency.why.insert(latency.why.end(), one_by_one.why.begin(), one_by_one.why.end());
}

/// Adds callbacks each of which is the only one to release the next.
void Holistic::add_callbacks(std::span<const std::size_t> callbacks, Latency& latency) const {
  Ticks total = 0;
  for (const std::size_t callback : callbacks) {
    total = sum(total, responses_[callback]);
  }
  const SegmentBound& segment = segments_[callbacks.back()];
  if (callbacks.size() > 1 && segment.first == callbacks.front() && segment.from_arrival < total) {
    latency.total = sum(latency.total, segment.from_arrival);
    latency.why.push_back({Contribution::Kind::kSegment, callbacks.back(),
                           static_cast<Ticks>(callbacks.size()), segment.from_arrival});
    return;
  }
  latency.total = sum(latency.total, total);
  for (const std::size_t callback : callbacks) {
    latency.why.push_back({Contribution::Kind::kCallback, callback, 1, responses_[callback]});
  }
}

void Holistic::add_steps(std::span<const std::size_t> callbacks, Latency& latency) const {
  std::size_t from = 0;
  for (std::size_t i = 1; i <= callbacks.size(); ++i) {
    if (i < callbacks.size() && at_once(callbacks[i - 1], callbacks[i])) {
      continue;
    }
    add_segment(callbacks.subspan(from, i - from), latency);
    from = i;
    if (i == callbacks.size()) {
      return;
    }
    const Ticks most = hop(callbacks[i - 1], callbacks[i]).max;
    latency.total = sum(latency.total, most);
    if (most > 0) {
      latency.why.push_back({Contribution::Kind::kHop, callbacks[i], 1, most});
    }
  }
}

Joins Holistic::joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals,
                         LagLimits limits) const {
  const auto arrival = [&](std::size_t n) -> std::optional<Ticks> {
    const auto first = callbacks.first(n);
    const auto before = latency(first, joins_of(first, arrivals, limits), false);
    if (!before) {
      return std::nullopt;
    }
    // `taken`: in a wait set, a sync takes messages from its inputs in turn, so the chain's message
    // may still have to wait for its turn. A lane runs messages in order of arrival.
    const Ticks taken = runs_sets_ ? responses_[callbacks[n]] : 0;
    return sum(before->total, sum(hop(first.back(), callbacks[n]).max, taken));
  };
  NextMessages next(workload_, [this](std::size_t source, std::size_t publisher, std::size_t sync) {
    const Ticks taken = runs_sets_ ? responses_[sync] : 0;
    return sum(sum(ends_[publisher].at(source), hop(publisher, sync).max), taken);
  });
  return find_joins(workload_, callbacks, arrival, arrivals, Taken::kInOrder,
                    limits == LagLimits::kAll ? &next : nullptr);
}

/// Sets `latency` to the time from the timer's release to the end of the last callback, as
/// find_ends() computes it, with one term for each part of the path.
void Holistic::explain_end(std::span<const std::size_t> callbacks, Latency& latency) const {
  const std::size_t timer = callbacks.front();
  latency = {.total = ends_[callbacks.back()].at(timer)};
  while (true) {
    const std::size_t last = callbacks.back();
    if (ends_[last].at(timer) == from_release_[last]) {
      Budget budget({.check_interrupt = check_interrupt_});
      const Latency path = path_bound(last, budget);
      latency.why.insert(latency.why.end(), path.why.begin(), path.why.end());
      return;
    }
    const Ticks alone = sum(ready_[last].at(timer), responses_[last]);
    std::size_t parts = 1;
    if (ends_[last].at(timer) < alone) {
      while (predecessors_[callbacks[callbacks.size() - parts]]) {
        ++parts;
      }
    }
    const std::size_t first = callbacks[callbacks.size() - parts];
    const auto kind = parts > 1 ? Contribution::Kind::kSegment : Contribution::Kind::kCallback;
    Ticks before = first == timer ? overheads_.timer_jitter : ready_[first].at(timer);
    latency.why.push_back({kind, last, static_cast<Ticks>(parts), ends_[last].at(timer) - before});
    callbacks = callbacks.first(callbacks.size() - parts);
    if (callbacks.empty()) {
      break;
    }
    const Ticks waited = before - ends_[callbacks.back()].at(timer);
    if (waited > 0) {  // the message's latency, or another publisher that ends later
      const bool way = hop(callbacks.back(), first).max > 0;
      const auto why = way ? Contribution::Kind::kHop : Contribution::Kind::kOtherInput;
      latency.why.push_back({why, first, 1, waited});
    }
  }
  if (overheads_.timer_jitter > 0) {
    latency.why.push_back({Contribution::Kind::kLate, timer, 1, overheads_.timer_jitter});
  }
}

/// Returns the latency; absent when there is no bound. `with_terms`: Latency::why is complete.
std::optional<Holistic::Latency> Holistic::latency(std::span<const std::size_t> callbacks,
                                                   const Joins& joins, bool with_terms) const {
  Latency worst;
  if (overheads_.timer_jitter > 0) {
    worst.total = overheads_.timer_jitter;
    worst.why.push_back({Contribution::Kind::kLate, callbacks.front(), 1, worst.total});
  }
  add_steps(callbacks, worst);
  if (const Ticks end = ends_[callbacks.back()].at(callbacks.front()); end < worst.total) {
    worst.total = end;
    if (with_terms) {
      explain_end(callbacks, worst);
    }
  }
  const SyncInputs inputs(workload_);
  for (const Join& join : joins.joins) {
    const auto rest = callbacks.subspan(join.at);
    for (const std::size_t from : join.other) {
      Ticks end = 0;
      for (const auto& [timer, time] : ends_[from]) {
        const Ticks lag = inputs.allowed_lag(join.lag, callbacks.front(), timer);
        end = std::max(end, sum(lag, time));
      }
      Latency other;
      other.total = sum(end, hop(from, rest.front()).max);
      other.why.push_back({Contribution::Kind::kOtherInput, rest.front(), 1, other.total});
      add_steps(rest, other);
      if (other.total > worst.total) {
        worst = std::move(other);
      }
    }
  }
  if (worst.total >= kMaxTicks) {
    return std::nullopt;
  }
  return worst;
}

Ticks Holistic::response(const model::Chain& chain) const {
  KnownArrivals arrivals;
  const auto found =
      latency(chain.callbacks, joins_of(chain.callbacks, arrivals, LagLimits::kAll), false);
  return found ? found->total : kHorizon;
}

std::string Holistic::why_none(std::size_t callback) const {
  const Core& core = cores_.cores[cores_.core_of[cores_.executor_of[callback]]];
  double load = 0;  // of the CPU
  for (const std::size_t each : core.callbacks) {
    double rate = 0;
    for (const Flow& flow : flows_[each]) {
      const double often = static_cast<double>(flow.count) / static_cast<double>(flow.period);
      load += often * static_cast<double>(workload_.dispatch);
      rate += flow.runs ? often : 0;
    }
    load += rate * static_cast<double>(workload_.wcet[each]);
  }
  const std::string percent = std::to_string(std::lround(load * 100)) + " %";
  if (load >= 1) {
    return "the load of its CPU is " + percent;
  }
  if (out_of_steps_) {
    return "the search for a fixed point stopped after its steps were used up (the load of its CPU "
           "is " +
           percent + ")";
  }
  return "the delays of callbacks that wait for messages feed each other: they grow beyond 20 "
         "times the longest period, at a load of its CPU of " +
         percent;
}

RelyingBound Holistic::bound(const model::Chain& chain, LagLimits limits) const {
  ChainBound result;
  result.level = workload_.lowest(chain.callbacks);
  KnownArrivals arrivals;
  Joins joins = joins_of(chain.callbacks, arrivals, limits);
  auto found = latency(chain.callbacks, joins, true);
  if (!found) {
    for (const std::size_t callback : chain.callbacks) {
      if (responses_[callback] < kMaxTicks) {
        continue;
      }
      result.note = "no bound was found for '" + workload_.application.callbacks[callback].id +
                    "': " + why_none(callback);
      return {std::move(result), {}};
    }
    result.note = "no bound was found for the other input of a sync";
    return {std::move(result), {}};
  }
  result.bound = found->total;
  result.why = std::move(found->why);
  std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
  return relying_bound(workload_, chain, std::move(result), std::move(joins));
}

}  // namespace rclrt::analysis::detail
