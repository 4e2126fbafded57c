// SPDX-License-Identifier: Apache-2.0
// The terms of the recurrences that bound the response time of one path.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bounds/level_work.hpp"
#include "demand.hpp"
#include "load.hpp"

namespace rclrt::analysis::detail {

/// The known facts about the begin of a busy period.
struct BeforePath {
  std::optional<Started> started;  ///< a callback that has started before; it is not preempted
  /// The nominal release of the first instance in the busy period, from its start.
  Ticks earliest{};
  /// The same for each of Workload::timers; empty: all releases come as early as they may.
  std::vector<std::optional<Ticks>> first_releases;
  /// Above 0: the nominal releases of the path's own timer are multiples of this after `earliest`.
  Ticks apart{};
};

/// The terms of the recurrences of one path.
struct PathTerms {
  /// Releases of a timer at the priority of the path's last callback. They delay the last callback
  /// only if they come no later than its own release.
  struct Ordered {
    std::size_t timer{};  ///< index into Workload::timers
    Ticks work{};         ///< of each; part of `others`
    Releases releases;
  };

  /// The releases of a timer or event, and the work of each.
  struct Timer {
    std::size_t timer{};  ///< index into Workload::timers
    Releases releases;
    Ticks work{};       ///< part of `others`
    Ticks unordered{};  ///< of it, part of `unordered`
  };

  Load load;
  Demand others{Count::kBefore};
  std::vector<Timer> timers;
  std::vector<Ordered> ordered;
  Demand unordered{Count::kBefore};  ///< `others` without `ordered`; only used if there are some
  Ticks head{};                      ///< work of one release, without sets of syncs
  Ticks own{};        ///< of it, what the path's last callback waits for, itself included
  Ticks early{};      ///< of it, what a later instance may do before the one under study ends
  Ticks own_first{};  ///< `own`, in addition to `early`
  Ticks after{};      ///< work that follows the last callback and starts after its end
  BeforePath before;
  Ticks instant{};  ///< 1: the end is an instant later than the work
  std::vector<std::pair<std::size_t, LimitedJobs>> sets;  ///< of each sync; part of `others`
};

}  // namespace rclrt::analysis::detail
