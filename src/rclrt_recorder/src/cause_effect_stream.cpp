// SPDX-License-Identifier: Apache-2.0
#include "cause_effect_stream.hpp"

#include <chrono>
#include <utility>

#include "cause_effect_runs.hpp"

namespace rclrt::recorder {

namespace {

using std::chrono::nanoseconds;

/// Keeps the longer one of two ways; the first of two equal ones.
void keep_longer(std::optional<model::CauseEffectWay>& longest,
                 std::optional<model::CauseEffectWay>& other) {
  if (other && (!longest || other->length() > longest->length())) {
    longest = std::move(other);
  }
}

}  // namespace

CauseEffectStream::CauseEffectStream(const model::Application& application)
    : application_(application), states_(application.cause_effect_chains.size()) {
  for (const model::CauseEffectChain& chain : application.cause_effect_chains) {
    for (const model::Segment& segment : chain.segments) {
      const auto& callbacks = application.chains[segment.chain].callbacks;
      latest_[callbacks[segment.entry]];
      latest_[callbacks.back()];
    }
  }
}

void CauseEffectStream::take(const InstanceRecord& record) {
  const auto own = latest_.find(record.callback);
  if (own == latest_.end() || record.outcome != Outcome::kRan) {
    return;
  }
  own->second.push_back(record);
  if (own->second.size() > kLatest) {
    own->second.pop_front();
    let_go_ = true;
  }
}

model::CauseEffectTimes CauseEffectStream::times_of(const Releases& releases) const {
  model::CauseEffectTimes times(application_);
  for (std::size_t chain = 0; chain < releases.size(); ++chain) {
    for (const ChainRelease& release : releases[chain]) {
      times.release(chain, release.instance, nanoseconds(release.release_ns));
    }
  }
  for (const auto& [callback, records] : latest_) {
    for (const InstanceRecord& each : records) {
      add_runs(times, each);
    }
  }
  return times;
}

model::CauseEffectDetails CauseEffectStream::count(std::size_t chain,
                                                   const model::CauseEffectTimes& times,
                                                   std::int64_t horizon_ns) {
  const model::CauseEffectChain& stated = application_.cause_effect_chains[chain];
  State& state = states_[chain];
  CauseEffectResult& counts = state.counts;
  model::CauseEffectDetails details = times.details(chain);
  if (!let_go_) {
    counts.found.initial = details.found.initial;
  }
  for (const model::CauseEffectOutput& output : details.found.outputs) {
    if (output.end.count() < state.until_ns || output.end.count() >= horizon_ns) {
      continue;
    }
    counts.found.distinct += counts.outputs == 0 || output.reaction ? 1U : 0U;
    ++counts.outputs;
    state.times.age.add(output.age().count());
    counts.missed_age += stated.max_age && output.age() > *stated.max_age ? 1U : 0U;
    if (output.reaction) {
      state.times.reaction.add(output.reaction->count());
      counts.missed_reaction +=
          stated.max_reaction && *output.reaction > *stated.max_reaction ? 1U : 0U;
    }
  }
  state.until_ns = std::max(state.until_ns, horizon_ns);
  keep_longer(counts.longest.reaction, details.longest.reaction);
  keep_longer(counts.longest.age, details.longest.age);
  return details;
}

void CauseEffectStream::advance(const Releases& releases, std::int64_t horizon_ns) {
  if (states_.empty()) {
    return;
  }
  const model::CauseEffectTimes times = times_of(releases);
  for (std::size_t chain = 0; chain < states_.size(); ++chain) {
    count(chain, times, horizon_ns);
  }
}

void CauseEffectStream::finish(const Releases& releases, RunResults& results) {
  results.cause_effect_chains.clear();
  if (states_.empty()) {
    return;
  }
  const model::CauseEffectTimes times = times_of(releases);
  for (std::size_t chain = 0; chain < states_.size(); ++chain) {
    const model::CauseEffectChain& stated = application_.cause_effect_chains[chain];
    model::CauseEffectDetails details = count(chain, times, INT64_MAX);
    State& state = states_[chain];
    CauseEffectResult result = std::move(state.counts);
    const auto since = details.found.open_since;
    const bool waits_too_long = stated.max_reaction && since &&
                                nanoseconds(results.window.end_ns) - *since > *stated.max_reaction;
    result.missed_reaction += waits_too_long ? 1U : 0U;
    result.found.inputs =
        !let_go_ ? details.found.inputs : results.chains[stated.segments.front().chain].completed;
    result.found.open_since = since;
    result.found.outputs = std::move(details.found.outputs);
    result.reads = std::move(details.reads);
    result.age = state.times.age.summary();
    result.reaction = state.times.reaction.summary();
    results.cause_effect_chains.push_back(std::move(result));
    results.streamed->cause_effect.push_back(std::move(state.times));
  }
}

}  // namespace rclrt::recorder
