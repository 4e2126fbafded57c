// SPDX-License-Identifier: Apache-2.0
// Bounds by busy periods, for the chains of one executor that has one core for itself.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "bounds/next_messages.hpp"
#include "bounds/path_bound.hpp"
#include "bounds/sync_ways.hpp"

namespace rclrt::analysis::detail {

class ExecutorBounds {
 public:
  /// Bounds the chains of `timers` (indices into Workload::timers). `jitter` is how late a timer
  /// may be released, in ns. `in_turn`: a sync takes messages from its inputs in turn, as in a wait
  /// set, instead of in order of arrival.
  ExecutorBounds(const Workload& workload, std::vector<std::size_t> timers, Ticks jitter,
                 Effort effort, bool in_turn)
      : workload_(workload),
        paths_(workload, std::move(timers), jitter, effort),
        in_turn_(in_turn),
        next_(workload, [this](std::size_t source, std::size_t publisher,
                               std::size_t sync) { return reach(source, publisher, sync); }),
        pending_(workload.wcet.size()) {}
  ExecutorBounds(const ExecutorBounds&) = delete;
  ExecutorBounds& operator=(const ExecutorBounds&) = delete;
  ExecutorBounds(ExecutorBounds&&) = delete;
  ExecutorBounds& operator=(ExecutorBounds&&) = delete;
  ~ExecutorBounds() = default;

  RelyingBound bound(const model::Chain& chain, LagLimits limits);

  /// Returns the same as PathBounds::most_pending().
  Ticks most_pending(std::size_t callback);

  /// Returns the same as PathBounds::gave_up().
  bool gave_up() const { return paths_.gave_up(); }

 private:
  Joins joins_of(std::span<const std::size_t> callbacks, KnownArrivals& arrivals, LagLimits limits);
  std::optional<Ticks> reach(std::size_t source, std::size_t publisher, std::size_t sync);
  PathBound response_of(const Way& way, const Way& chain, std::size_t last);
  static PathBound with_lag(PathBound path, const Way& way);
  std::optional<Ticks> response(const std::vector<Way>& ways, std::size_t last, ChainBound& result);

  const Workload& workload_;
  PathBounds paths_;
  bool in_turn_;
  NextMessages next_;
  std::vector<std::optional<Ticks>> pending_;  // for each callback that was requested
};

}  // namespace rclrt::analysis::detail
