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
  Nanoseconds release{};  ///< of that instance
  std::size_t source{};   ///< index of the value that it read, among those of the segment before
};

using Values = std::vector<Stored>;  ///< of one segment, in the order in which they were stored

/// Returns the way to a value of the last segment. `source(segment, value)` returns the index of
/// the value of the segment before from which the way comes.
template <typename Source>
CauseEffectWay way_to(const std::vector<Values>& values, std::size_t index, Source source) {
  CauseEffectWay way;
  way.stages.resize(values.size());
  for (std::size_t s = values.size(); s-- > 0;) {
    const Stored& own = values[s][index];
    way.stages[s] = {.instance = own.instance, .begin = own.release, .end = own.at};
    if (s > 0) {
      index = source(s, own);
      way.stages[s].begin = std::max(own.release, values[s - 1][index].at);
    }
  }
  way.since = way.stages.front().begin;
  return way;
}

}  // namespace

/// The outputs, with the values on the way to them.
struct CauseEffectTimes::Joined {
  CauseEffectOutputs found{};
  std::vector<Values> values{};    ///< by segment; those of the last one are the outputs
  std::vector<Moment> releases{};  ///< of the first segment, by their instances
};

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
      runs.begun.push_back(
          {run.instance, at_release ? run.release : run.read.value_or(run.start), run.release});
    }
    if (run.callback == chain.callbacks.back()) {
      const bool is_last = place.segment + 1 == runs_[place.chain].size();
      const Nanoseconds end = is_last ? run.end : run.stored.value_or(run.end);
      runs.ended.push_back(
          {run.instance,
           chain.logical_execution ? std::max(end, run.release + chain.deadline) : end,
           run.release});
    }
  }
  return places_[run.chain].size();
}

void CauseEffectTimes::release(std::size_t chain, std::uint64_t instance, Nanoseconds at) {
  for (const Place& place : places_.at(chain)) {
    if (place.segment == 0) {
      runs_[place.chain].front().begun.push_back({instance, at, at});
    }
  }
}

std::vector<CauseEffectOutputs> CauseEffectTimes::outputs() const {
  std::vector<CauseEffectOutputs> result;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    result.push_back(join(i).found);
  }
  return result;
}

CauseEffectDetails CauseEffectTimes::details(std::size_t chain) const {
  Joined joined = join(chain);
  CauseEffectDetails result{.found = {}, .longest = longest_ways(joined), .reads = reads(joined)};
  result.found = std::move(joined.found);
  return result;
}

LongestWays CauseEffectTimes::longest_ways(const Joined& joined) {
  const auto& outputs = joined.found.outputs;
  const auto& values = joined.values;
  std::optional<std::size_t> oldest;
  std::optional<std::size_t> slowest;
  std::optional<std::uint64_t> shown;   // the newest data in the outputs so far
  std::optional<std::uint64_t> before;  // the same before the output `slowest`
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const CauseEffectOutput& output = outputs[i];
    if (!oldest || output.age() > outputs[*oldest].age()) {
      oldest = i;
    }
    if (output.reaction && (!slowest || *output.reaction > *outputs[*slowest].reaction)) {
      slowest = i;
      before = shown;
    }
    shown = std::max(shown, std::optional(values.back()[i].origin.instance));
  }
  LongestWays result;
  if (oldest) {
    result.age = way_to(values, *oldest, [](std::size_t, const Stored& own) { return own.source; });
  }
  if (slowest) {
    result.reaction = way_to(values, *slowest, [&](std::size_t segment, const Stored&) {
      const auto& from = values[segment - 1];
      const auto first = std::ranges::find_if(
          from, [&](const Stored& value) { return value.origin.instance > before; });
      // The value that was read shows it too, so there is one, and the first one is not later.
      return static_cast<std::size_t>(first - from.begin());
    });
    result.reaction->since = outputs[*slowest].end - *outputs[*slowest].reaction;
  }
  return result;
}

std::vector<SampledRead> CauseEffectTimes::reads(const Joined& joined) {
  const std::vector<Values>& values = joined.values;
  std::vector<SampledRead> result;
  for (std::size_t s = 1; s < values.size(); ++s) {
    for (const Stored& own : values[s]) {
      result.push_back({.segment = s,
                        .instance = own.instance,
                        .stored_by = values[s - 1][own.source].instance});
    }
  }
  return result;
}

CauseEffectTimes::Joined CauseEffectTimes::store(std::size_t chain) const {
  Joined joined;
  CauseEffectOutputs& result = joined.found;
  for (std::size_t s = 0; s < runs_[chain].size(); ++s) {
    const SegmentRuns& runs = runs_[chain][s];
    const auto begun = first_of_each(runs.begun);
    if (s == 0) {
      joined.releases = begun;
    }
    Values next;
    for (const Moment& end : first_of_each(runs.ended)) {
      const auto start = std::ranges::lower_bound(begun, end.instance, {}, &Moment::instance);
      if (start == begun.end() || start->instance != end.instance) {
        continue;  // its entry was not recorded
      }
      Stored own{.at = end.at,
                 .instance = end.instance,
                 .origin = {end.instance, start->at},
                 .release = s == 0 ? start->at : end.release};
      if (s == 0) {
        next.push_back(own);
        continue;
      }
      const Values& values = joined.values.back();
      const auto later = std::ranges::upper_bound(values, start->at, {}, &Stored::at);
      if (later != values.begin()) {
        own.source = static_cast<std::size_t>(later - values.begin()) - 1;
        own.origin = values[own.source].origin;
        next.push_back(own);
      } else if (s + 1 == runs_[chain].size()) {
        ++result.initial;
      }
    }
    std::ranges::stable_sort(next, {}, &Stored::at);
    result.inputs = s == 0 ? next.size() : result.inputs;
    joined.values.push_back(std::move(next));
  }
  return joined;
}

CauseEffectTimes::Joined CauseEffectTimes::join(std::size_t chain) const {
  Joined joined = store(chain);
  CauseEffectOutputs& result = joined.found;
  const std::vector<Moment>& releases = joined.releases;
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
  for (const Stored& output : joined.values.back()) {
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
  return joined;
}

}  // namespace rclrt::model
