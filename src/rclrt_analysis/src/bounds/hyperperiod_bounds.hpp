// SPDX-License-Identifier: Apache-2.0
// Bounds of every single instance in the hyperperiod, for executors that exchange messages.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bounds/cores.hpp"
#include "bounds/instance_windows.hpp"
#include "bounds/level_work.hpp"
#include "bounds/sync_ways.hpp"

namespace rclrt::analysis::detail {

struct KindBounds;

/// Bounds the chains of one component (Cores::component) by the instances of all of its callbacks
/// in one hyperperiod, each with a latest end of its own. Interference counts only where the times
/// of two instances may overlap, so the delays of chains that go back and forth between CPUs feed
/// each other far less than with one jitter for all instances of a callback. The proof is in
/// docs/explanation/back-and-forth.md.
///
/// Timers without a stated offset may have any phase: the phases are divided into cells, and all
/// cells are examined. Within a cell, a release is known up to the length of the cell.
class HyperperiodBounds {
 public:
  HyperperiodBounds(const Workload& workload, const Cores& cores, std::size_t component,
                    const KindBounds& kind, const Overheads& overheads, Effort effort);

  /// Returns the bound of the chain, or the reason why there is none as ChainBound::note: the end
  /// of a sentence.
  RelyingBound bound(const model::Chain& chain) const;

  /// Returns the most instances of a callback that are released and have not ended; kHorizon: no
  /// bound.
  Ticks most_pending(std::size_t callback) const;

 private:
  bool covers(std::size_t callback) const;
  bool find_cells();
  bool examine(InstanceWindows& windows, Budget& budget);
  void keep_longest(const InstanceWindows& windows);

  /// The phases of a timer, divided into `cells` intervals of this length, one after the other. The
  /// first one begins at `first`.
  struct Phases {
    Ticks first{};
    Ticks length{};
    Ticks cells{1};
  };

  const Workload& workload_;
  const Cores& cores_;
  const KindBounds& kind_;
  Overheads overheads_;
  std::vector<std::size_t> callbacks_;  // of the component, publishers first
  std::vector<std::size_t> timers_;     // of them, as callbacks
  std::vector<Phases> phases_;          // of each of `timers_`
  Ticks hyperperiod_{1};
  std::string note_;  // why there is no bound
  /// For each callback: of its instance with the longest time from the release to the end, that
  /// time for each callback on the path to it. Empty: no bound.
  std::vector<std::vector<Ticks>> longest_;
};

}  // namespace rclrt::analysis::detail
