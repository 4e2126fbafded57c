// SPDX-License-Identifier: Apache-2.0
// Assignments that a search considers, and the moves from one to the next.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "placement.hpp"
#include "rclrt/analysis/chain_bounds.hpp"
#include "rclrt/analysis/synthesis.hpp"
#include "rclrt/analysis/time_distribution.hpp"

namespace rclrt::analysis::detail {

/// Places of callbacks, and an order of the chains.
struct AssignCandidate {
  Clusters clusters;               ///< empty: the executors of the file
  std::vector<std::size_t> place;  ///< the cluster of each unit
  std::vector<int> level;          ///< of each chain; empty: the priorities of the file
  bool by_picas = false;           ///< later callbacks of a chain are more urgent
  auto operator<=>(const AssignCandidate&) const = default;
};

/// Returns the application with the places and priorities of the candidate.
model::Application apply(const AssignCandidate& candidate, const model::Application& stated,
                         std::span<const PlacementUnit> units, ExecutorKind executor);

/// Returns different priorities of the chains in the order of the source; chains of equal priority
/// are ordered by their deadlines.
std::vector<int> ordered_chains(const model::Application& application, ChainPriorities source);

/// Replaces the priorities of the chains by 1, 2, 3, ... in the same order; equal ones stay equal.
void normalise(AssignCandidate& candidate);

/// Draws moves. A move prefers the chains that exceed their deadline most, and the callbacks that
/// delay these.
class AssignMoves {
 public:
  /// Keeps references to the arguments.
  AssignMoves(const model::Application& application, std::span<const PlacementUnit> units,
              SimulationRandom& random);

  /// Returns the candidate after a move. `bounds`: those of the candidate. `resize`: CPUs may move
  /// from one cluster to another.
  AssignCandidate neighbour(AssignCandidate candidate, const std::vector<ChainBound>& bounds,
                            bool resize);

 private:
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_.next() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  /// Returns a chain, preferably one with a large bound / deadline.
  std::size_t choose_chain(const std::vector<ChainBound>& bounds);

  /// Returns a chain that delays this one: by a term of its bound, or on one of its executors.
  std::optional<std::size_t> choose_delaying(const AssignCandidate& candidate, std::size_t chain,
                                             const ChainBound& bound);

  std::set<std::size_t> clusters_of_chain(const AssignCandidate& candidate,
                                          std::size_t chain) const;

  void move_priority(AssignCandidate& candidate, const std::vector<ChainBound>& bounds);
  void move_units(AssignCandidate& candidate, const std::vector<ChainBound>& bounds);
  void move_cpu(AssignCandidate& candidate);

  const model::Application& application_;
  std::span<const PlacementUnit> units_;
  SimulationRandom& random_;
  std::vector<std::size_t> unit_of_;                 // of each callback
  std::vector<std::vector<std::size_t>> chains_of_;  // of each callback
  std::vector<int> given_;                           // the chains' priorities in the file
};

}  // namespace rclrt::analysis::detail
