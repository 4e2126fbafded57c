// SPDX-License-Identifier: Apache-2.0
// Callbacks that waited although others of their executor ran again and again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lives.hpp"
#include "pools.hpp"

namespace rclrt::trace {

/// A callback starves if it waits for at least so many of its periods, and another callback that is
/// no more urgent begins at least so often meanwhile.
inline constexpr std::int64_t kStarvingPeriods = 3;

/// The longest wait of a callback that starved. Callbacks are those that represent all lives.
struct Starvation {
  Wait wait{};
  std::int64_t period_ns = 0;
  std::uint64_t times = 0;      ///< number of its waits in which it starved
  std::uint32_t overtaker = 0;  ///< began most often meanwhile
  std::uint64_t overtakes = 0;  ///< how often it began
  bool is_of_its_group = false;
  std::int64_t free_ns = 0;   ///< how long a thread of the pool ran no callback
  std::int64_t open_ns = 0;   ///< how long, in addition, no callback of its group ran
  bool is_forgotten = false;  ///< it could have run most of the time: open_ns is the cause
};

/// Callbacks that waited for long.
struct StarvationFindings {
  std::vector<Starvation> starved;  ///< one per callback
  /// Callbacks that did not run any more although a thread and their group were free: starved,
  /// cancelled or destroyed, which a trace does not distinguish. The time since they were due.
  std::map<std::uint32_t, std::int64_t> stopped;
  bool is_complete = true;  ///< false: the search ended with its steps
};

/// For each callback that represents all its lives: the number of its group, the same for callbacks
/// that exclude each other; 0: it excludes none.
using GroupNumbers = std::vector<std::uint32_t>;

/// How often the first callback waited at least a millisecond for a run of the second one, while a
/// thread was free and no other callback of its node ran. Such a run had a reason to exclude it.
using WaitsForRuns = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

/// Counts such waits of the callbacks for which the trace has no group. A wait in which no callback
/// of the node ran for a while, although a thread was free, does not count: the callback was
/// cancelled, or its thread had no CPU. Neither does a wait of one of `stopped` that no run ended.
WaitsForRuns count_waits_for_runs(const TracedSystem& system, const Lives& lives,
                                  const std::vector<Pool>& pools,
                                  const std::map<std::uint32_t, std::int64_t>& stopped);

/// Finds the callbacks that starved in executors of several threads. A wait of a callback is
/// starvation if it lasts for at least kStarvingPeriods periods (release_interval_ns()), and one
/// other callback of the pool with the same priority began at least kStarvingPeriods times
/// meanwhile, each time while no callback of the waiting one's group ran, and these starts extend
/// over at least half of the wait. So a wait for a single long run, for more urgent callbacks, or
/// while the whole process had no CPU is none.
StarvationFindings find_starvation(const TracedSystem& system, const Lives& lives,
                                   const std::vector<Pool>& pools, const GroupNumbers& groups);

}  // namespace rclrt::trace
