// SPDX-License-Identifier: Apache-2.0
// The work that may delay a path on several CPUs, see docs/explanation/several-cpus.md.
#pragma once

#include <cstddef>
#include <vector>

#include "bounds/global_system.hpp"

namespace rclrt::analysis::detail {

/// The work in a time x from when the first callback of a path is ready. Keeps references.
class GlobalWindow {
 public:
  GlobalWindow(const GlobalSystem& all, const GlobalPath& path);

  /// Returns whether some of the work has no bound.
  bool is_unbounded() const { return unbounded_; }
  std::size_t size() const { return units_.size() + jobs_.size() + 1; }
  Ticks own() const { return own_; }

  /// Returns the shortest time in which the path has ended, if nothing that comes after x counts.
  Ticks end(Ticks x);

  /// Returns the terms of the last end(x). The path's own work has the rest.
  std::vector<Contribution> explain(Ticks x) const;

 private:
  /// Work that runs on one CPU at a time, `parallel` times at most.
  struct Unit {
    std::size_t source{};
    bool own{};  ///< of the path's own source
    bool in_sequence{};
    Ticks work{};      ///< of one instance
    Ticks once{};      ///< work beside the path, of its own instance
    Ticks response{};  ///< of its last callback
    Ticks parallel{1};
    bool waits_whole{};    ///< the path may wait for all of it
    bool in_other_lane{};  ///< of Pool::kTimersApart: what does not count whole
    bool in_sets{};        ///< ready sets limit what does not count whole, at any load
    Ticks in_wait{};       ///< with `in_sets`: the most work during one wait of the path
    std::vector<const GlobalNode*> whole{};  ///< callbacks of the unit that the path may wait for
    std::vector<std::size_t> callbacks{};
    Ticks low{};     ///< counts whole, as a less urgent member
    Ticks total{};   ///< as of the last end(x), also below
    Ticks blocks{};  ///< counts whole
    Ticks rest{};    ///< of `total` without what counts whole
    Ticks shared{};  ///< counts by its share of the CPUs
  };

  /// Runs that cost something besides their work.
  struct Jobs {
    std::size_t source{};
    Ticks count{};
    Ticks response{};
    Ticks cost{};
    Ticks in_wait{};  ///< the most runs during one wait of the path; 0: no limit
  };

  /// Runs that keep a callback of the path out of ready sets.
  struct Busy {
    std::size_t source{};
    Ticks count{};
    Ticks once{};  ///< beside the path, of its own instance
    Ticks response{};
  };

  /// The longest less urgent member of a group.
  struct Low {
    std::size_t callback{};
    Ticks work{};
    std::size_t members{};  ///< less urgent ones
  };

  const GlobalNode& node(std::size_t index) const {
    return all_.sources[path_.source].nodes[index];
  }
  /// Returns whether callbacks of this one's executor may run on a CPU of the path's executor.
  bool shares_cpus(std::size_t callback) const {
    return own_executor_.callbacks_of[all_.executor_of[callback]];
  }
  /// Returns whether each run of the callback delays the path: it shares CPUs with the path, and no
  /// callback of the path is more urgent.
  bool interferes(std::size_t callback) const {
    return shares_cpus(callback) && all_.ceiling[callback] >= path_.priority;
  }
  Ticks runs_in_wait(const GlobalNode& node) const;
  Ticks waits(Ticks x) const;
  Ticks cost_of_run(const GlobalSource& source, const GlobalNode& node) const;
  Ticks runs_beside_path(std::size_t index) const;
  void find_shared();
  void find_less_urgent();
  void add(std::size_t index);
  void add_jobs(std::size_t index);
  void attribute(const Low& low);
  Ticks others(Ticks x, Ticks response) const;
  Ticks instances_beside_path(std::size_t source, Ticks x, Ticks response) const;
  Ticks milliseconds(Ticks x) const { return ceil_div(sum(x, kMillisecond), kMillisecond); }
  Ticks background(Ticks x) const;
  Ticks share(Ticks y);
  void measure(Unit& unit, Ticks x) const;
  Ticks wait(Ticks x);

  const GlobalSystem& all_;
  const GlobalPath& path_;
  const GlobalExecutor& own_executor_;
  std::vector<bool> whole_;  // for each callback: all of its work may have to be waited for
  std::vector<Low> lows_;    // for each callback of the path
  std::vector<Unit> units_;
  std::vector<Jobs> jobs_;
  std::vector<Busy> busy_;
  Ticks own_ = 0;
  bool unbounded_ = false;
};

}  // namespace rclrt::analysis::detail
