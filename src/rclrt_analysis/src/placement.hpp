// SPDX-License-Identifier: Apache-2.0
// Placement of callbacks on executors, and of executors on CPUs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rclrt/analysis/assign.hpp"
#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Callbacks that one executor runs (see PlacedUnit).
struct PlacementUnit {
  std::vector<std::size_t> callbacks;
  std::size_t node{};     ///< index into model::Application::nodes; of a process: its first
  std::size_t process{};  ///< index into model::Application::processes()
  double load{};          ///< in CPUs
};

/// Returns the units in the order of their first callbacks.
std::vector<PlacementUnit> placement_units(const model::Application& application, PlacedUnit unit);

/// The CPUs of executors. No CPU is in two clusters.
using Clusters = std::vector<std::vector<int>>;

/// Divides the CPUs into that many clusters, the sizes of which differ by one at most.
Clusters clusters_of(const std::vector<int>& cpus, std::size_t count);

/// Returns the cluster of each unit: the heaviest unit is placed first, each where the load per CPU
/// is then the least (worst fit, decreasing).
std::vector<std::size_t> place_units(std::span<const PlacementUnit> units,
                                     const Clusters& clusters);

/// Returns the cluster of each unit: the same for whole chains. If some of its groups are placed,
/// with other chains, a chain joins most of them if it fits there. A chain that does not fit into
/// any cluster is placed unit by unit.
std::vector<std::size_t> place_chains(const model::Application& application,
                                      std::span<const PlacementUnit> units,
                                      const Clusters& clusters);

/// Returns the cluster of each unit by PiCAS's allocation of nodes (see allocate()).
std::vector<std::size_t> place_nodes(const model::Application& application,
                                     std::span<const PlacementUnit> units,
                                     const Clusters& clusters);

/// Returns the load of each cluster, in CPUs.
std::vector<double> cluster_loads(std::span<const PlacementUnit> units, const Clusters& clusters,
                                  const std::vector<std::size_t>& place);

/// Returns the highest load per CPU of a cluster; 0 without clusters.
double highest_load(std::span<const PlacementUnit> units, const Clusters& clusters,
                    const std::vector<std::size_t>& place);

/// Returns the unit of each callback.
std::vector<std::size_t> units_of_callbacks(std::span<const PlacementUnit> units);

/// Returns the application with an executor for each cluster and process that has units there. A
/// node has the executor of most of its callbacks; the other ones state theirs. `place`: the
/// cluster of each unit.
model::Application lay_out(model::Application application, std::span<const PlacementUnit> units,
                           const Clusters& clusters, const std::vector<std::size_t>& place);

/// Makes the priorities of executors with `top_priority` possible: merges priorities of executors
/// that have too many, and gives executors of several processes on the same CPUs values of
/// `top_priority`, the one with the most urgent callback first.
void fit_kernel_priorities(model::Application& application);

}  // namespace rclrt::analysis::detail
