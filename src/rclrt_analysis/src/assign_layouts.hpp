// SPDX-License-Identifier: Apache-2.0
// The layouts of executors on CPUs that assign() tries, each with its first allocations.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "placement.hpp"
#include "rclrt/analysis/assign.hpp"

namespace rclrt::analysis::detail {

/// One layout, and the allocations from which its search begins.
struct AssignLayout {
  Layout kind{};
  Clusters clusters;                                 ///< empty: the executors of the file
  std::vector<std::vector<std::size_t>> placements;  ///< the cluster of each unit
};

/// Returns the layouts in the order of Layout. Throws std::invalid_argument if `options` states one
/// that is not possible.
std::vector<AssignLayout> assign_layouts(const model::Application& application,
                                         std::span<const PlacementUnit> units,
                                         const AssignOptions& options);

/// Returns why not all layouts are tried, as a sentence; empty if they are, or if `options` states
/// one.
std::string why_no_more_layouts(const model::Application& application,
                                const AssignOptions& options);

}  // namespace rclrt::analysis::detail
