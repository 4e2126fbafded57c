// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/cause_effect_times.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::model {

namespace {

/// Returns the moments in the order of the instances, the earliest one of each instance.
template <typename Moments>
Moments first_of_each(Moments moments) {
  std::ranges::sort(moments);
  const auto [begin, end] = std::ranges::unique(
      moments, [](const auto& a, const auto& b) { return a.instance == b.instance; });
  moments.erase(begin, end);
  return moments;
}

/// The data of an instance of the first segment.
struct Origin {
  std::uint64_t instance{};
  Nanoseconds release{};
};

/// A value and the time from which it can be read.
struct Stored {
  Nanoseconds at{};
  std::uint64_t instance{};  ///< of the chain that stored it
  Origin origin;
};

}  // namespace

CauseEffectTimes::CauseEffectTimes(const Application& application)
    : application_(application), places_(application.chains.size()) {
  for (std::size_t c = 0; c < application.cause_effect_chains.size(); ++c) {
    const auto& segments = application.cause_effect_chains[c].segments;
    runs_.emplace_back(segments.size());
    for (std::size_t s = 0; s < segments.size(); ++s) {
      places_.at(segments[s].chain).push_back({.chain = c, .segment = s});
    }
  }
}

std::size_t CauseEffectTimes::add(const ChainRun& run) {
  for (const Place& place : places_.at(run.chain)) {
    const Segment& segment = application_.cause_effect_chains[place.chain].segments[place.segment];
    const Chain& chain = application_.chains[segment.chain];
    SegmentRuns& runs = runs_[place.chain][place.segment];
    if (run.callback == chain.callbacks[segment.entry]) {
      const bool at_release = place.segment == 0 || chain.logical_execution;
      runs.begun.push_back({run.instance, at_release ? run.release : run.start});
    }
    if (run.callback == chain.callbacks.back()) {
      runs.ended.push_back({run.instance, chain.logical_execution
                                              ? std::max(run.end, run.release + chain.deadline)
                                              : run.end});
    }
  }
  return places_[run.chain].size();
}

void CauseEffectTimes::release(std::size_t chain, std::uint64_t instance, Nanoseconds at) {
  for (const Place& place : places_.at(chain)) {
    if (place.segment == 0) {
      runs_[place.chain].front().begun.push_back({instance, at});
    }
  }
}

std::vector<CauseEffectOutputs> CauseEffectTimes::outputs() const {
  std::vector<CauseEffectOutputs> result;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    result.push_back(join(i));
  }
  return result;
}

CauseEffectOutputs CauseEffectTimes::join(std::size_t chain) const {
  CauseEffectOutputs result;
  const auto releases = first_of_each(runs_[chain].front().begun);
  std::vector<Stored> values;  // of the segment before, in the order in which they were stored
  for (std::size_t s = 0; s < runs_[chain].size(); ++s) {
    const SegmentRuns& runs = runs_[chain][s];
    const auto begun = s == 0 ? releases : first_of_each(runs.begun);
    std::vector<Stored> next;
    for (const Moment& end : first_of_each(runs.ended)) {
      const auto start = std::ranges::lower_bound(begun, end.instance, {}, &Moment::instance);
      if (start == begun.end() || start->instance != end.instance) {
        continue;  // its entry was not recorded
      }
      if (s == 0) {
        next.push_back(
            {.at = end.at, .instance = end.instance, .origin = {end.instance, start->at}});
        continue;
      }
      const auto later = std::ranges::upper_bound(values, start->at, {}, &Stored::at);
      if (later != values.begin()) {
        next.push_back(
            {.at = end.at, .instance = end.instance, .origin = std::prev(later)->origin});
      } else if (s + 1 == runs_[chain].size()) {
        ++result.initial;
      }
    }
    std::ranges::stable_sort(next, {}, &Stored::at);
    values = std::move(next);
    result.inputs = s == 0 ? values.size() : result.inputs;
  }
  const bool begins_with_event =
      application_.callbacks[application_.cause_effect_chains[chain].callbacks.front()].kind() ==
      CallbackKind::kEvent;
  std::optional<Origin> last;
  // Returns the time of the first thing that no output up to `last` shows.
  const auto happened = [&]() -> std::optional<Nanoseconds> {
    const auto next =
        last ? std::ranges::upper_bound(releases, last->instance, {}, &Moment::instance)
             : releases.begin();
    if (last && !begins_with_event) {
      return last->release;
    }
    return next != releases.end() ? std::optional(next->at) : std::nullopt;
  };
  for (const Stored& output : values) {
    CauseEffectOutput& added = result.outputs.emplace_back(output.origin.release, output.at,
                                                           std::nullopt, output.instance);
    if (last && output.origin.instance <= last->instance) {
      continue;
    }
    ++result.distinct;
    if (last) {
      added.reaction = output.at - *happened();
    }
    last = output.origin;
  }
  result.open_since = happened();
  return result;
}

}  // namespace rclrt::model
