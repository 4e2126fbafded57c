// SPDX-License-Identifier: Apache-2.0
#include "bounds/holistic.hpp"

#include <algorithm>
#include <utility>

#include "bounds/kind.hpp"
#include "bounds/segment_bounds.hpp"
#include "input_callbacks.hpp"
#include "rclrt/model/services.hpp"

namespace rclrt::analysis::detail {
namespace {

constexpr int kRounds = 1000;

}  // namespace

Holistic::Holistic(const Workload& workload, const Cores& cores, ExecutorKind executor,
                   SetCount sets, const Overheads& overheads, Effort effort,
                   std::optional<ChainTrial> trial)
    : workload_(workload),
      cores_(cores),
      kind_(bounds_of(executor)),
      runs_sets_(traits(executor).runs_sets),
      by_deadline_(traits(executor).by_deadline),
      sets_(sets),
      overheads_(overheads),
      check_interrupt_(effort.check_interrupt),
      trial_(trial),
      responses_(workload.wcet.size()) {
  find_predecessors();
  if ((!trial || trial->with_paths) && !is_exact()) {
    find_paths();
  } else {
    from_release_.assign(workload.wcet.size(), kHorizon);
  }
  search(effort);
}

/// Returns whether some legal schedule attains the response of each callback by itself (Spuri
/// 1996): under EDF, timers and events alone in any phase, with nothing that holds them up. Then no
/// bound of a path can be lower.
bool Holistic::is_exact() const {
  const auto& callbacks = workload_.application.callbacks;
  const auto is_free = [](const model::Callback& callback) {
    return !callback.takes_messages() && !callback.group && !stated_offset(callback);
  };
  return by_deadline_ && std::ranges::all_of(callbacks, is_free) &&
         std::ranges::all_of(workload_.graph.successors,
                             [](const auto& to) { return to.empty(); }) &&
         std::ranges::all_of(cores_.cores,
                             [](const Core& core) { return core.executors.size() <= 1; }) &&
         std::ranges::all_of(workload_.jitter, [](Ticks jitter) { return jitter == 0; }) &&
         workload_.dispatch == 0 && overheads_.timer_jitter == 0 && overheads_.background == 0 &&
         overheads_.stall == 0;
}

void Holistic::search(Effort effort) {
  Budget budget({effort.steps / 8, effort.check_interrupt});  // its steps divide
  Ticks longest = 1;
  for (const Ticks period : workload_.period) {
    longest = std::max(longest, period);
  }
  Ticks limit = product(longest, 20);  // beyond it, a response is taken as unbounded
  for (const Ticks each : limits()) {
    // A response that is only compared with a limit may be found as anything up to it.
    limit = each < kHorizon ? std::max(limit, each) : limit;
  }
  const bool has_messages = workload_.timers.size() < workload_.wcet.size();
  if (trial_ && has_messages) {
    look_at_chain(limit, budget);
  }
  for (int round = 0; round < kRounds && !has_missed_; ++round) {
    find_flows();
    Responses next = responses_;
    std::vector<SegmentBound> segments = segments_;
    bound_cores({}, next, segments, budget);
    const std::vector<Ticks> from_release = path_bounds({}, budget);
    out_of_steps_ = out_of_steps_ || budget.empty();
    if (!raise(next, segments, from_release, limit)) {
      find_ends();
      return;
    }
    has_missed_ = misses();
  }
  if (has_missed_) {
    return;
  }
  out_of_rounds_ = true;
  std::ranges::fill(responses_, kHorizon);
  std::ranges::fill(from_release_, kHorizon);
  for (SegmentBound& segment : segments_) {
    segment.from_arrival = kHorizon;
    segment.from_nominal.reset();
  }
  find_flows();
  find_ends();
}

/// Bounds the callbacks and segments of all cores on which something has changed since the last
/// round. `only`: as CoreProblem::only, on the cores of these callbacks.
void Holistic::bound_cores(std::span<const std::size_t> only, Responses& responses,
                           std::vector<SegmentBound>& segments, Budget& budget) {
  for (const Core& core : cores_.cores) {
    const CoreProblem problem{workload_,          core,        flows_, overheads_,
                              workload_.dispatch, kind_.skips, only,   limits()};
    if (is_unchanged(core) || std::ranges::none_of(core.callbacks, [&](std::size_t each) {
          return problem.needs(each);
        })) {
      continue;
    }
    kind_.bound_core(problem, responses, budget);
    segment_bounds(problem, predecessors_, segments, budget);
  }
  if (only.empty()) {
    bounded_flows_ = flows_;
  }
}

/// Returns CoreProblem::limits: those of the trial, if no response is part of another one.
std::span<const Ticks> Holistic::limits() const {
  const bool alone = workload_.timers.size() == workload_.wcet.size() && cores_.cores.size() == 1 &&
                     cores_.cores.front().executors.size() == 1 && paths_.empty();
  return trial_ && alone ? trial_->single : std::span<const Ticks>{};
}

/// Returns whether the last round has found the bounds of the core from the same flows. Where
/// executors share a core, they also depend on each other's responses.
bool Holistic::is_unchanged(const Core& core) const {
  return !bounded_flows_.empty() && core.executors.size() == 1 &&
         std::ranges::all_of(core.callbacks, [&](std::size_t callback) {
           return flows_[callback] == bounded_flows_[callback];
         });
}

/// Looks at the chain of the trial alone, as if all others took no time before it. Most chains that
/// miss their deadline do so already then.
void Holistic::look_at_chain(Ticks limit, Budget& budget) {
  const auto& only = trial_->chain->callbacks;
  find_flows();
  Responses next = responses_;
  std::vector<SegmentBound> segments = segments_;
  bound_cores(only, next, segments, budget);
  raise(next, segments, path_bounds(only, budget), limit);
  has_missed_ = misses();
}

/// Returns whether the chain of the trial, if there is one, has no bound of at most the limit: the
/// responses so far are no longer than those of the fixed point. A chain through a sync is judged
/// at the fixed point only.
bool Holistic::misses() {
  if (!trial_ || std::ranges::any_of(trial_->chain->callbacks, [&](std::size_t callback) {
        return is_sync(workload_, callback);
      })) {
    return false;
  }
  find_ends();
  return response(*trial_->chain) > trial_->limit;
}

/// Takes the results of a round; returns whether any value has changed.
bool Holistic::raise(const Responses& responses, const std::vector<SegmentBound>& segments,
                     const std::vector<Ticks>& from_release, Ticks limit) {
  bool changed = false;
  const auto take = [&](Ticks& own, Ticks found) {
    // The result is shorter only by rounding of the search.
    const Ticks next = std::max(own, found > limit ? kHorizon : found);
    changed = changed || next != own;
    own = next;
  };
  for (std::size_t i = 0; i < responses.size(); ++i) {
    take(responses_[i], responses[i]);
    take(from_release_[i], from_release[i]);
    if (!predecessors_[i]) {
      continue;
    }
    take(segments_[i].from_arrival, segments[i].from_arrival);
    if (segments[i].from_nominal) {
      Ticks nominal = segments_[i].from_nominal.value_or(0);
      take(nominal, *segments[i].from_nominal);
      segments_[i].from_nominal = nominal;
    }
  }
  return changed;
}

/// Returns whether a message is available as soon as it is published, and to a callback on the same
/// CPU. False for a CPU with several executors, if they run their callbacks in any order relative
/// to each other.
bool Holistic::at_once(std::size_t from, std::size_t to) const {
  const std::size_t core = cores_.core_of[cores_.executor_of[from]];
  const bool any_order = kind_.orders_own_only && cores_.cores[core].executors.size() > 1;
  return core == cores_.core_of[cores_.executor_of[to]] && hop(from, to).max == 0 && !any_order;
}

void Holistic::find_predecessors() {
  predecessors_.resize(workload_.wcet.size());
  segments_.resize(workload_.wcet.size());
  least_.resize(workload_.wcet.size());
  for (const std::size_t callback : workload_.graph.order) {
    segments_[callback].first = callback;
    const auto& inputs = workload_.graph.publishers[callback];
    for (const auto& input : inputs) {
      for (const std::size_t from : input) {
        least_[callback] = std::max(least_[callback], sum(least_[from], hop(from, callback).min));
      }
    }
    if (inputs.size() != 1 || inputs.front().size() != 1 ||
        !at_once(inputs.front().front(), callback)) {
      continue;
    }
    predecessors_[callback] = inputs.front().front();
    segments_[callback].first = segments_[inputs.front().front()].first;
  }
}

const Hop& Holistic::hop(std::size_t from, std::size_t to) const {
  return cores_.executor_of[from] == cores_.executor_of[to] ? overheads_.near : overheads_.far;
}

void Holistic::find_ends() {
  ready_.assign(workload_.wcet.size(), {});
  ends_.assign(workload_.wcet.size(), {});
  for (const std::size_t timer : workload_.timers) {
    ready_[timer][timer] = overheads_.timer_jitter;
  }
  for (const std::size_t callback : workload_.graph.order) {
    for (const auto& input : workload_.graph.publishers[callback]) {
      for (const std::size_t from : input) {
        for (const auto& [timer, end] : ends_[from]) {
          Ticks& own = ready_[callback][timer];
          own = std::max(own, sum(end, hop(from, callback).max));
        }
      }
    }
    add_ends(callback);
  }
}

void Holistic::add_ends(std::size_t callback) {
  const SegmentBound& segment = segments_[callback];
  for (const auto& [timer, ready] : ready_[callback]) {
    Ticks end = sum(ready, responses_[callback]);
    if (predecessors_[callback]) {
      const Ticks first = ready_[segment.first].at(timer);
      const bool nominal =
          segment.from_nominal && follows_timer(segment.first) && !has_jitter(timer);
      end = std::min(end, sum(first, nominal ? *segment.from_nominal : segment.from_arrival));
    }
    end = std::min(end, from_release_[callback]);
    ends_[callback][timer] = end;
  }
}

/// Returns whether each release of one timer triggers the callback, and nothing else does. This
/// requires one publisher for each callback before it, and no sync.
bool Holistic::follows_timer(std::size_t callback) const {
  const auto* inputs = &workload_.graph.publishers[callback];
  while (inputs->size() == 1 && inputs->front().size() == 1) {
    inputs = &workload_.graph.publishers[inputs->front().front()];
  }
  return inputs->empty();
}

Ticks Holistic::most_pending(std::size_t callback) const {
  Ticks result = 0;
  if (workload_.application.callbacks[callback].kind() == model::CallbackKind::kSync) {
    for (const auto& input : workload_.graph.publishers[callback]) {
      result = std::max(result, most_of_input(callback, input));
    }
    return result;
  }
  const Ticks instant = workload_.return_delay(callback);
  for (const Flow& flow : flows_[callback]) {
    const Ticks late = sum(sum(responses_[callback], flow.jitter), instant);
    if (late >= kMaxTicks) {
      return kHorizon;
    }
    result = sum(result, product(flow.count, ceil_div(late, flow.period)));
  }
  return result;
}

/// Returns the most instances that wait at one time in the callback's queue in a wait set. For a
/// service, the requests of all of its clients share the queue.
Ticks Holistic::most_in_queue(std::size_t callback) const {
  const auto& all = workload_.application.callbacks;
  if (model::role_of(all[callback]) != model::Role::kService) {
    return most_pending(callback);
  }
  Ticks result = 0;
  for (std::size_t other = 0; other < all.size(); ++other) {
    if (share_queue(all[callback], all[other])) {
      result = sum(result, most_pending(other));
    }
  }
  return result;
}

/// Returns the most messages of one input of a sync that are pending at one time; kHorizon: no
/// bound. By the latest end of the callback (over all timers that trigger it), messages of the same
/// or an equally timed release have arrived by all inputs. Messages that another sync publishes may
/// have waited there for Flow::earlier.
Ticks Holistic::most_of_input(std::size_t callback,
                              const std::vector<std::size_t>& publishers) const {
  Ticks end = 0;
  for (const auto& [timer, time] : ends_[callback]) {
    end = std::max(end, time);
  }
  end = sum(end, workload_.return_delay(callback));
  if (end >= kMaxTicks) {
    return kHorizon;
  }
  Ticks result = 0;
  for (const std::size_t from : publishers) {
    for (const Flow& flow : flows_[from]) {
      if (flow.runs) {
        const Ticks within = sum(sum(end, flow.earlier), workload_.jitter[flow.timer]);
        result = sum(result, product(flow.count, ceil_div(within, flow.period)));
      }
    }
  }
  return result;
}

}  // namespace rclrt::analysis::detail
