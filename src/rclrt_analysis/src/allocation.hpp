// SPDX-License-Identifier: Apache-2.0
// Allocation of nodes to cores.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Returns for each node the number of its unit, which is the index of one of its nodes. The nodes
/// of a unit stay together. Nodes that topics join are a unit. If such a unit is more than a core
/// can do and there are several cores, its chains are units instead, and a shared node belongs to
/// the most urgent one.
std::vector<std::size_t> units(const model::Application& application, std::size_t cores);

/// Returns the core of each node, from 0. The heaviest unit comes first (of equals the one with the
/// most urgent chain); each unit goes to the least loaded core.
std::vector<std::size_t> allocate(const model::Application& application,
                                  const std::vector<std::size_t>& units, std::size_t cores);

/// Returns the application with an executor "core_N" on the CPU N for each core that has nodes.
model::Application on_cores(model::Application application, const std::vector<std::size_t>& core,
                            const std::vector<int>& cpus);

}  // namespace rclrt::analysis::detail
