// SPDX-License-Identifier: Apache-2.0
#include "executor_bounds.hpp"

#include <algorithm>
#include <utility>

namespace rclrt::analysis::detail {

RelyingBound ExecutorBounds::bound(const model::Chain& chain) {
  ChainBound result;
  result.level = workload_.priority[chain.callbacks.front()];
  for (const std::size_t callback : chain.callbacks) {
    result.level = std::min(result.level, workload_.priority[callback]);
  }
  KnownArrivals arrivals;
  Joins joins = joins_of(chain.callbacks, arrivals);
  result.bound = response(ways_to_last(workload_, chain.callbacks, joins.joins),
                          chain.callbacks.back(), result);
  if (!result.bound) {
    return {std::move(result), {}};
  }
  if (joins.complete) {
    const model::Callback& first = workload_.application.callbacks[chain.callbacks.front()];
    result.reaction = result.data_age = sum(*result.bound, model::max_interval(first).count());
  }
  return {std::move(result), std::move(joins.relies_on)};
}

Ticks ExecutorBounds::most_pending(std::size_t callback) {
  if (!pending_[callback]) {
    pending_[callback] = paths_.most_pending(callback);
  }
  return *pending_[callback];
}

Joins ExecutorBounds::joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals) {
  const auto arrival = [&](std::size_t n) {
    ChainBound before;
    const auto first = callbacks.first(n);
    const auto joins = joins_of(first, arrivals);
    return response(ways_to_last(workload_, first, joins.joins),
                    in_turn_ ? callbacks[n] : first.back(), before);
  };
  return find_joins(workload_, callbacks, arrival, arrivals);
}

/// Returns the longest time from the release of the chain's timer or event to the end of its last
/// callback.
std::optional<Ticks> ExecutorBounds::response(const std::vector<Way>& ways, std::size_t last,
                                              ChainBound& result) {
  std::optional<Ticks> worst;
  for (const Way& way : ways) {
    const PathBound path = paths_.bound({way.timer, last, way.level});
    if (!path.response) {
      result.note = path.note;
      result.why.clear();
      return std::nullopt;
    }
    const Ticks end = sum(*path.response, way.lag);
    if (worst && *worst >= end) {
      continue;
    }
    worst = end;
    result.why = path.why;
    result.waited = path.waited;
    if (way.lag > 0) {
      result.why.push_back({Contribution::Kind::kOtherInput, *way.sync, 1, way.lag});
      std::ranges::stable_sort(result.why, std::greater{}, &Contribution::total);
    } else {
      result.waited -= way.lag;
    }
  }
  return worst;
}

}  // namespace rclrt::analysis::detail
