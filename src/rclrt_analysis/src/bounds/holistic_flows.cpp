// SPDX-License-Identifier: Apache-2.0
// The streams of instances at each callback, with the jitter that the callbacks before it add.
#include <algorithm>

#include "bounds/holistic.hpp"

namespace rclrt::analysis::detail {
namespace {

void merge(std::vector<Flow>& flows, const Flow& flow) {
  for (Flow& one : flows) {
    if (one.timer != flow.timer || one.period != flow.period || one.runs != flow.runs) {
      continue;
    }
    one.jitter = std::max(one.jitter, flow.jitter);
    one.distance = std::min(one.distance, flow.distance);
    one.within = std::max(one.within, flow.within);
    one.earlier = std::max(one.earlier, flow.earlier);
    one.count = sum(one.count, flow.count);
    return;
  }
  flows.push_back(flow);
}

/// Returns the largest value of a field among the flows of a timer; 0: it has none.
Ticks largest_of_timer(const std::vector<Flow>& flows, std::size_t timer, Ticks Flow::* field) {
  Ticks result = 0;
  for (const Flow& each : flows) {
    if (each.timer == timer) {
      result = std::max(result, each.*field);
    }
  }
  return result;
}

}  // namespace

std::vector<Stream> streams_of(const CoreProblem& problem, std::size_t callback, bool user_code) {
  std::vector<Stream> result;
  for (const Flow& flow : problem.flows[callback]) {
    const Ticks own = flow.runs && user_code ? problem.workload.wcet[callback] : 0;
    const Ticks work = product(flow.count, sum(own, problem.per_instance));
    result.push_back({work, flow.period, flow.jitter, flow.distance, flow.within});
  }
  return result;
}

std::vector<Stream> user_streams_of(const CoreProblem& problem, std::size_t callback, Ticks more) {
  std::vector<Stream> result;
  for (const Flow& flow : problem.flows[callback]) {
    const Ticks own = flow.runs ? sum(problem.workload.wcet[callback], more) : 0;
    const Ticks work = product(flow.count, own);
    result.push_back({work, flow.period, flow.jitter, flow.distance, flow.within});
  }
  return result;
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

void Holistic::find_flows() {
  flows_.assign(workload_.wcet.size(), {});
  for (std::size_t k = 0; k < workload_.timers.size(); ++k) {
    const Ticks jitter = sum(workload_.jitter[k], overheads_.timer_jitter);
    // Otherwise the count by the distance is not lower.
    const bool is_limited = workload_.distance[k] > workload_.period[k] - workload_.jitter[k];
    flows_[workload_.timers[k]].push_back({k, workload_.period[k], jitter, 1, true, 0,
                                           is_limited ? workload_.distance[k] : 0,
                                           is_limited ? overheads_.timer_jitter : 0});
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
      const Ticks way = latency.max - latency.min;
      flow.within = flow.distance > 0 ? sum(within_after(from, flow), way) : 0;
      flow.jitter = sum(jitter_after(from, flow), way);
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
      flow.distance = flow.within = 0;
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
  const Ticks jitter = largest_of_timer(flows_[segment.first], flow.timer, &Flow::jitter);
  return std::min(alone, sum(jitter, segment.from_nominal.value_or(segment.from_arrival)));
}

/// Returns the same as jitter_after(), for Flow::within: the time from the earliest to the latest
/// possible end after an event occurs.
Ticks Holistic::within_after(std::size_t callback, const Flow& flow) const {
  const Ticks of_path = std::max<Ticks>(0, from_release_[callback] - least_[callback]);
  const Ticks alone = std::min(sum(flow.within, responses_[callback]), of_path);
  if (!predecessors_[callback]) {
    return alone;
  }
  const SegmentBound& segment = segments_[callback];
  const Ticks within = largest_of_timer(flows_[segment.first], flow.timer, &Flow::within);
  return std::min(alone, sum(within, segment.from_arrival));
}

}  // namespace rclrt::analysis::detail
