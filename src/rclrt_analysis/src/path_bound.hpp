// SPDX-License-Identifier: Apache-2.0
/// The response time of a path that starts at a timer and on which nothing waits for another timer.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "demand.hpp"
#include "level_work.hpp"
#include "load.hpp"

namespace rclrt::analysis::detail {

/// What runs before the last callback of the path has ended.
struct Path {
  std::size_t timer{};  ///< index into Workload::timers
  std::size_t last{};   ///< the callback whose end counts
  int level{};          ///< the lowest on the way
};

struct PathBound {
  std::optional<Ticks> response;
  std::string note;
  Ticks waited{};  ///< release of the worst job, from the start of the busy period, less its jitter
  std::vector<Contribution> why;
};

class PathBounds {
 public:
  /// `timers` are the indices into Workload::timers whose releases share the core.
  PathBounds(const Workload& workload, std::vector<std::size_t> timers, Ticks jitter, Effort effort)
      : workload_(workload), timers_(std::move(timers)), jitter_(jitter), budget_(effort.steps) {}

  PathBound bound(const Path& path);

  /// The longest time without a moment at which no work of the level and above is pending.
  std::optional<Ticks> longest_busy(int level);

  /// The most instances of a callback that may wait within a busy period of this length and level.
  std::vector<Ticks> most_waiting(int level, Ticks busy);

 private:
  const LevelWork& work(int level);
  void add_background(Load& load, Demand& demand) const;
  PathBound explain(const Path& path, Ticks q, Ticks w, Ticks own, Ticks early) const;

  const Workload& workload_;
  std::vector<std::size_t> timers_;
  Ticks jitter_;
  Budget budget_;
  std::map<int, LevelWork> levels_;
};

}  // namespace rclrt::analysis::detail
