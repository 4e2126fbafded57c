// SPDX-License-Identifier: Apache-2.0
#include "bounds/sync_ways.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "bounds/sync_inputs.hpp"
#include "demand.hpp"

namespace rclrt::analysis::detail {
namespace {

std::size_t timer_index(const Workload& workload, std::size_t callback) {
  return static_cast<std::size_t>(std::ranges::find(workload.timers, callback) -
                                  workload.timers.begin());
}

}  // namespace

std::vector<PathStart> paths_to(const Workload& workload,
                                const std::vector<std::size_t>& publishers, int level) {
  std::vector<PathStart> result;
  std::set<std::pair<std::size_t, int>> seen;
  std::vector<std::pair<std::size_t, int>> open;
  for (const std::size_t publisher : publishers) {
    open.emplace_back(publisher, level);
  }
  while (!open.empty()) {
    const auto [callback, above] = open.back();
    open.pop_back();
    const int here = std::min(above, workload.priority[callback]);
    if (!seen.emplace(callback, here).second) {
      continue;
    }
    if (workload.source[callback] == callback) {
      result.push_back({timer_index(workload, callback), here});
    }
    for (const auto& input : workload.graph.publishers[callback]) {
      for (const std::size_t publisher : input) {
        open.emplace_back(publisher, here);
      }
    }
  }
  return result;
}

std::vector<Way> ways_to_last(const Workload& workload, std::span<const std::size_t> callbacks,
                              const std::vector<Join>& joins) {
  std::vector<Way> result{
      {timer_index(workload, callbacks.front()), workload.lowest(callbacks), 0, {}}};
  const SyncInputs inputs(workload);
  for (const Join& join : joins) {
    const int level = workload.lowest(callbacks.subspan(join.at));
    for (const PathStart& start : paths_to(workload, join.other, level)) {
      const Ticks lag =
          inputs.allowed_lag(join.lag, callbacks.front(), workload.timers[start.timer]);
      result.push_back({start.timer, start.level, lag, callbacks[join.at]});
    }
  }
  return result;
}

void take_lower(RelyingBound& found, RelyingBound other) {
  const auto& bound = found.bound.bound;
  if (other.bound.bound && (!bound || *other.bound.bound < *bound)) {
    other.bound.level = found.bound.level;
    found = std::move(other);
  }
}

RelyingBound relying_bound(const Workload& workload, const model::Chain& chain, ChainBound bound,
                           Joins joins) {
  if (joins.complete) {
    const model::Callback& first = workload.application.callbacks[chain.callbacks.front()];
    bound.reaction = bound.data_age = sum(*bound.bound, model::max_interval(first).count());
  }
  return {std::move(bound), std::move(joins.relies_on), std::move(joins.with_room)};
}

}  // namespace rclrt::analysis::detail
