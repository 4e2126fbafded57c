// SPDX-License-Identifier: Apache-2.0
#include "bounds/executor_bounds.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::analysis::detail {

RelyingBound ExecutorBounds::bound(const model::Chain& chain, LagLimits limits) {
  ChainBound result;
  result.level = workload_.lowest(chain.callbacks);
  KnownArrivals arrivals;
  Joins joins = joins_of(chain.callbacks, arrivals, limits);
  result.bound = response(ways_to_last(workload_, chain.callbacks, joins.joins),
                          chain.callbacks.back(), result);
  if (!result.bound) {
    return {std::move(result), {}};
  }
  return relying_bound(workload_, chain, std::move(result), std::move(joins));
}

Ticks ExecutorBounds::most_pending(std::size_t callback) {
  if (!pending_[callback]) {
    pending_[callback] = paths_.most_pending(callback);
  }
  return *pending_[callback];
}

Joins ExecutorBounds::joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals,
                               LagLimits limits) {
  const auto arrival = [&](std::size_t n) {
    ChainBound before;
    const auto first = callbacks.first(n);
    const auto joins = joins_of(first, arrivals, limits);
    return response(ways_to_last(workload_, first, joins.joins),
                    in_turn_ ? callbacks[n] : first.back(), before);
  };
  return find_joins(workload_, callbacks, arrival, arrivals, Taken::kInOrder,
                    limits == LagLimits::kAll ? &next_ : nullptr);
}

/// Returns the result of Reach.
std::optional<Ticks> ExecutorBounds::reach(std::size_t source, std::size_t publisher,
                                           std::size_t sync) {
  const int level = in_turn_ ? workload_.priority[sync] : workload_.priority[publisher];
  Ticks longest = 0;
  for (const PathStart& start : paths_to(workload_, {publisher}, level)) {
    if (workload_.timers[start.timer] != source) {
      continue;
    }
    const PathBound path =
        paths_.bound({start.timer, in_turn_ ? sync : publisher, start.level, {}});
    if (!path.response) {
      return std::nullopt;
    }
    longest = std::max(longest, *path.response);
  }
  return longest;
}

/// Returns a bound on the time from the release of the chain's timer to the end of its last
/// callback, in the case that the chain waits in a sync for the release of `way`'s timer, which is
/// at most way.lag later.
///
/// There are two cases. (1) The CPU always has work of the priorities of the way and the chain,
/// from the chain's release to the end. Then the end is in the busy period of the chain's release.
/// (2) At some time between the two releases, the CPU has no such work. Then all work of the
/// chain's release is done when the busy period of the other release begins.
///
/// In both cases the time is also at most the lag plus the response from the other release, with
/// the chain's timer at any phase. The result is the smaller of this and the larger of the two
/// cases.
PathBound ExecutorBounds::response_of(const Way& way, const Way& chain, std::size_t last) {
  PathBound any = paths_.bound({way.timer, last, way.level, {}});
  if (way.lag <= 0 || way.timer == chain.timer || !any.response) {
    return with_lag(std::move(any), way);
  }
  PathBound busy = paths_.bound({chain.timer, last, std::min(way.level, chain.level), {}});
  PathBound idle = paths_.bound({way.timer, last, way.level, EarlierRelease{chain.timer, way.lag}});
  any = with_lag(std::move(any), way);
  idle = with_lag(std::move(idle), way);
  if (!busy.response || !idle.response) {
    return any;
  }
  PathBound& longer = *busy.response > *idle.response ? busy : idle;
  return *longer.response < *any.response ? std::move(longer) : any;
}

/// Adds the lag of a way to the bound from the release of its timer.
PathBound ExecutorBounds::with_lag(PathBound path, const Way& way) {
  if (!path.response) {
    return path;
  }
  path.response = sum(*path.response, way.lag);
  if (way.lag < 0) {
    path.waited -= way.lag;
  } else if (way.lag > 0) {
    path.why.push_back({Contribution::Kind::kOtherInput, *way.sync, 1, way.lag});
    std::ranges::stable_sort(path.why, std::greater{}, &Contribution::total);
  }
  return path;
}

/// Returns the longest time from the release of the chain's timer or event to the end of its last
/// callback, over all ways. nullopt if one of them has no bound; `result` then gets the note that
/// states why. Otherwise `result` gets the terms of the longest.
std::optional<Ticks> ExecutorBounds::response(const std::vector<Way>& ways, std::size_t last,
                                              ChainBound& result) {
  std::optional<Ticks> worst;
  for (const Way& way : ways) {
    PathBound path = response_of(way, ways.front(), last);
    if (!path.response) {
      result.note = path.note;
      result.why.clear();
      return std::nullopt;
    }
    if (worst && *worst >= *path.response) {
      continue;
    }
    worst = path.response;
    result.why = std::move(path.why);
    result.waited = path.waited;
  }
  return worst;
}

}  // namespace rclrt::analysis::detail
