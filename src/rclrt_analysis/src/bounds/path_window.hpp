// SPDX-License-Identifier: Apache-2.0
// The time from the release of an instance of a path to its end, across CPUs: see
// holistic_paths.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "bounds/level_work.hpp"
#include "demand.hpp"
#include "rclrt/analysis/chain_bounds.hpp"

namespace rclrt::analysis::detail {

/// Instances of a callback that may overlap with an instance of a path.
struct Overlapping {
  std::size_t timer{};  ///< index into Workload::timers
  Ticks work{};         ///< of the instances of one release
  Ticks period{};
  Ticks jitter{};  ///< of all arrivals and, where they overlap from an earlier release, of the ends
  Ticks latest{};  ///< the longest time from a release to the end
  bool by_release{};      ///< each release of the timer brings the work once
  bool later{};           ///< the instance of the path's own release does not count
  Ticks until{kHorizon};  ///< releases from here on do not count
  Ticks early{};          ///< by how much other releases of an event may be nearer to one than
                          ///< whole periods: its jitter
  Ticks distance{};       ///< another limit, as of a Stream; 0: there is none
  Ticks within{};

  /// Returns how many releases delay the path from its release (0) to w. `next`: the time of the
  /// first release of this timer from 0 on; nullopt: unknown, so releases come as early as
  /// possible.
  Ticks count(Ticks w, std::optional<Ticks> next) const {
    w = std::min(w, until);
    if (!next) {
      const Ticks most = std::max<Ticks>(0, ceil_div(w + jitter, period));
      return distance > 0 ? std::min(most, std::max<Ticks>(0, ceil_div(w + within, distance)))
                          : most;
    }
    const Ticks before = std::max<Ticks>(0, ceil_div(sum(sum(latest, early), *next), period) - 1);
    const Ticks too_late = std::max<Ticks>(0, floor_div(*next - w, period));
    const Ticks first = *next + (later ? period : 0) - early;
    return std::max<Ticks>(0, before - too_late) + std::max<Ticks>(0, ceil_div(w - first, period));
  }
};

/// The demand from the release of one instance of a path on.
struct PathWindow {
  const std::vector<Overlapping>& others;
  std::vector<std::optional<Ticks>> next;  ///< of each of `others`: see Overlapping::count()
  Ticks once{};                            ///< time that counts once
  Ticks background{};                      ///< time lost in each millisecond

  Ticks lost(Ticks w) const { return background > 0 ? product(milliseconds(w), background) : 0; }

  static Ticks milliseconds(Ticks w) { return ceil_div(sum(w, kMillisecond), kMillisecond); }

  /// Returns the time from the release of the path's instance to its end, plus one tick. A callback
  /// returns only after the more urgent callbacks that it has released, so a release at the very
  /// end of its work still delays the return; the extra tick makes such a release count. nullopt if
  /// the time is beyond kHorizon or the budget ends. The result is no less than `start`.
  std::optional<Ticks> end(Ticks start, Budget& budget) const {
    const Ticks least = sum(once, 1);
    return fixed_point(std::max(least, start), 8 * others.size(), budget, [&](Ticks w) {
      Ticks total = sum(least, lost(w));
      for (std::size_t i = 0; i < others.size(); ++i) {
        total = sum(total, product(others[i].count(w, next[i]), others[i].work));
      }
      return total;
    });
  }

  /// Adds the terms of the end. `timers`: Workload::timers.
  void explain(Ticks end, const std::vector<std::size_t>& timers,
               std::vector<Contribution>& why) const {
    std::map<std::size_t, Contribution> by_timer;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Ticks count = others[i].count(end, next[i]);
      if (count == 0) {
        continue;
      }
      const std::size_t timer = others[i].timer;
      Contribution& term = by_timer[timer];
      term.kind = Contribution::Kind::kInterference;
      term.callback = timers[timer];
      term.releases = std::max(term.releases, count);
      term.total = sum(term.total, product(count, others[i].work));
    }
    for (const auto& [timer, term] : by_timer) {
      why.push_back(term);
    }
    if (background > 0) {
      why.push_back({Contribution::Kind::kBackground, 0, milliseconds(end), lost(end)});
    }
  }
};

}  // namespace rclrt::analysis::detail
