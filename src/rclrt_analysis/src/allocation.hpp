// SPDX-License-Identifier: Apache-2.0
// Nodes on cores.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

/// Which nodes stay together: for each node the number of its unit, which is that of one of its
/// nodes. Nodes that topics join are a unit. When such a unit is more than a core can do and there
/// are several cores, its chains are units instead, the most urgent one taking the nodes it shares.
std::vector<std::size_t> units(const model::Application& application, std::size_t cores);

/// The core of each node, from 0: the heaviest unit first (of equals the one with the most urgent
/// chain), each to the least loaded core.
std::vector<std::size_t> allocate(const model::Application& application,
                                  const std::vector<std::size_t>& units, std::size_t cores);

/// The application with an executor "core_N" on the CPU N for each core that has nodes.
model::Application on_cores(model::Application application, const std::vector<std::size_t>& core,
                            const std::vector<int>& cpus);

}  // namespace rclrt::analysis::detail
