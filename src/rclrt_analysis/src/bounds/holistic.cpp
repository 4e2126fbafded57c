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

void merge(std::vector<Flow>& flows, const Flow& flow) {
  for (Flow& one : flows) {
    if (one.timer != flow.timer || one.period != flow.period || one.runs != flow.runs) {
      continue;
    }
    one.jitter = std::max(one.jitter, flow.jitter);
    one.earlier = std::max(one.earlier, flow.earlier);
    one.count = sum(one.count, flow.count);
    return;
  }
  flows.push_back(flow);
}

}  // namespace

std::vector<Stream> streams_of(const CoreProblem& problem, std::size_t callback, bool user_code) {
  std::vector<Stream> result;
  for (const Flow& flow : problem.flows[callback]) {
    const Ticks own = flow.runs && user_code ? problem.workload.wcet[callback] : 0;
    const Ticks work = product(flow.count, sum(own, problem.per_instance));
    result.push_back({work, flow.period, flow.jitter});
  }
  return result;
}

std::vector<Stream> user_streams_of(const CoreProblem& problem, std::size_t callback) {
  std::vector<Stream> result;
  for (const Flow& flow : problem.flows[callback]) {
    const Ticks own = flow.runs ? problem.workload.wcet[callback] : 0;
    result.push_back({product(flow.count, own), flow.period, flow.jitter});
  }
  return result;
}

void add_queueing(const CoreProblem& problem, std::size_t callback,
                  std::vector<Interferer>& others) {
  for (const Stream& stream : streams_of(problem, callback, false)) {
    if (stream.work > 0) {
      others.push_back({stream, {}});
    }
  }
}

std::vector<Stream> background_streams(const CoreProblem& problem) {
  std::vector<Stream> result;
  if (problem.overheads.background > 0) {
    result.push_back({problem.overheads.background, kMillisecond, kMillisecond});
  }
  if (problem.overheads.stall > 0) {
    result.push_back({problem.overheads.stall, kHorizon, 0});
  }
  return result;
}

void add_background(const CoreProblem& problem, std::vector<Interferer>& others) {
  for (const Stream& stream : background_streams(problem)) {
    others.push_back({stream, {}});
  }
}

Holistic::Holistic(const Workload& workload, const Cores& cores, ExecutorKind executor,
                   SetCount sets, const Overheads& overheads, Effort effort)
    : workload_(workload),
      cores_(cores),
      kind_(bounds_of(executor)),
      runs_sets_(traits(executor).runs_sets),
      by_deadline_(traits(executor).by_deadline),
      workers_(workload.application),
      sets_(sets),
      overheads_(overheads),
      check_interrupt_(effort.check_interrupt),
      responses_(workload.wcet.size()) {
  Budget budget({effort.steps / 8, effort.check_interrupt});  // its steps divide
  Ticks longest = 1;
  for (const Ticks period : workload.period) {
    longest = std::max(longest, period);
  }
  const Ticks limit = product(longest, 20);  // beyond it, a response is taken as unbounded
  find_predecessors();
  find_paths();
  for (int round = 0; round < kRounds; ++round) {
    find_flows();
    Responses next = responses_;
    std::vector<SegmentBound> segments = segments_;
    for (const Core& core : cores.cores) {
      const CoreProblem problem{workload_,          core,       flows_, overheads_,
                                workload_.dispatch, kind_.skips};
      kind_.bound_core(problem, next, budget);
      segment_bounds(problem, predecessors_, segments, budget);
    }
    const std::vector<Ticks> from_release = path_bounds(budget);
    out_of_steps_ = out_of_steps_ || budget.empty();
    if (!raise(next, segments, from_release, limit)) {
      find_ends();
      return;
    }
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

void Holistic::find_flows() {
  flows_.assign(workload_.wcet.size(), {});
  for (std::size_t k = 0; k < workload_.timers.size(); ++k) {
    const Ticks jitter = sum(workload_.jitter[k], overheads_.timer_jitter);
    flows_[workload_.timers[k]].push_back({k, workload_.period[k], jitter, 1, true});
  }
  for (const std::size_t callback : workload_.graph.order) {
    add_flows(callback);
  }
}

/// Returns the flows of one publisher's messages as they arrive at the callback.
std::vector<Flow> Holistic::messages(std::size_t from, std::size_t to) const {
  const Hop& latency = hop(from, to);
  std::vector<Flow> result;
  for (Flow flow : flows_[from]) {
    if (flow.runs) {
      flow.jitter = sum(jitter_after(from, flow), latency.max - latency.min);
      result.push_back(flow);
    }
  }
  return result;
}

/// Adds the flows of a callback: the streams of instances that its publishers cause.
///
/// In a busy period, a sync runs no more often than messages arrive at the busiest of its inputs.
/// The reason: when the period begins, some input has no message that can be in a set, so each set
/// of the period needs a message that arrives at that input within the period (see
/// Workload::find_sources for the proof). Each of the other messages costs a dispatch.
void Holistic::add_flows(std::size_t callback) {
  const auto& inputs = workload_.graph.publishers[callback];
  const bool rarest = sets_ == SetCount::kRarestInput || !workload_.source[callback];
  if (inputs.size() > 1 && rarest && workload_.is_rarer_than_source(callback)) {
    add_rarest_flows(callback);
    return;
  }
  const auto& by = workload_.counted_by[callback];
  Ticks late = 0;  // the jitter of all inputs
  std::vector<Flow> all;
  for (const auto& input : inputs) {
    for (const std::size_t from : input) {
      for (Flow flow : messages(from, callback)) {
        late = std::max(late, flow.jitter);
        flow.runs = inputs.size() == 1 || *by == from;
        merge(all, flow);
      }
    }
  }
  if (inputs.size() > 1) {
    for (Flow& flow : all) {
      flow.jitter = late;
    }
  }
  for (const Flow& flow : all) {
    merge(flows_[callback], flow);
  }
}

/// Adds the flows of a sync, with its runs counted by its rarest input: one run for each release of
/// Workload::runs. The message that completes a set arrives at most `late` after its stamp. So the
/// release by which the set is counted is at most `late` plus RunsOf::earlier before that arrival.
/// In a wait set, a message may also complete a set with one that arrives while it waits.
void Holistic::add_rarest_flows(std::size_t callback) {
  const auto& inputs = workload_.graph.publishers[callback];
  Ticks late = 0;  // from the release of a timer to the arrival of its message here
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    for (const std::size_t from : inputs[input]) {
      for (Flow flow : messages(from, callback)) {
        const Ticks least = sum(least_[from], hop(from, callback).min);
        late = std::max(late, sum(least, flow.jitter));
        if (input != workload_.rarest_input[callback]) {
          flow.runs = false;
          merge(flows_[callback], flow);
        }
      }
    }
  }
  if (runs_sets_) {
    late = sum(late, responses_[callback]);
  }
  for (const RunsOf& runs : workload_.runs[callback]) {
    const Ticks own = sum(workload_.jitter[runs.timer], overheads_.timer_jitter);
    const Ticks jitter = sum(sum(own, runs.earlier), late);
    merge(flows_[callback],
          {runs.timer, workload_.period[runs.timer], jitter, runs.count, true, runs.earlier});
  }
}

/// Returns the jitter with which instances of the flow end at this callback: the time from the
/// earliest to the latest possible end, including the jitter of their arrivals. A path begins with
/// the arrival of an event, which may be as late as its jitter allows.
Ticks Holistic::jitter_after(std::size_t callback, const Flow& flow) const {
  const Ticks from_nominal = sum(workload_.jitter[flow.timer], from_release_[callback]);
  const Ticks of_path = std::max<Ticks>(0, from_nominal - least_[callback]);
  const Ticks alone = std::min(sum(flow.jitter, responses_[callback]), of_path);
  if (!predecessors_[callback]) {
    return alone;
  }
  const SegmentBound& segment = segments_[callback];
  Ticks jitter = 0;
  for (const Flow& first : flows_[segment.first]) {
    if (first.timer == flow.timer) {
      jitter = std::max(jitter, first.jitter);
    }
  }
  return std::min(alone, sum(jitter, segment.from_nominal.value_or(segment.from_arrival)));
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
