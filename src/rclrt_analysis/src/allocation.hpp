// SPDX-License-Identifier: Apache-2.0
// Allocation of nodes to cores.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Divides the nodes into units that stay on one core. Returns, for each node, the number of its
/// unit, which is the index of one of its nodes. All nodes that topics connect are one unit. If
/// there are several cores and this unit is more than one core can do, each chain is a unit of its
/// own instead; a node of several chains then belongs to the most urgent one. `room`: the CPUs of a
/// core.
std::vector<std::size_t> units(const model::Application& application, std::size_t cores,
                               double room = 1.0);

/// Places the units on cores. Returns the core of each node, from 0. The heaviest unit is placed
/// first (of equally heavy ones, the one with the most urgent chain); each unit goes to the core
/// with the least load so far. `units`: the result of units().
std::vector<std::size_t> allocate(const model::Application& application,
                                  const std::vector<std::size_t>& units, std::size_t cores);

}  // namespace rclrt::analysis::detail
