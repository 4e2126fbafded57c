// SPDX-License-Identifier: Apache-2.0
// Restarted nodes: finds the nodes and callbacks of a trace that are later lives of others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traced_system.hpp"

namespace rclrt::trace {

/// The lives of processes, nodes, callbacks and executors: one that was restarted has several
/// lives. A later life begins after the earlier one has ended. Nodes with the same name that run at
/// the same time are separate nodes.
struct Lives {
  std::vector<std::uint32_t> process_of;   ///< per process: the one that represents all its lives
  std::vector<std::uint32_t> node_of;      ///< the same, per node
  std::vector<std::uint32_t> callback_of;  ///< the same, per callback
  std::vector<std::uint32_t> executor_of;  ///< the same, per executor
  /// Per callback. The callback that represents several lives has the merged data of all of them.
  std::vector<TracedCallback> callbacks;
  std::vector<std::string> notes;
};

/// Returns the node's name with its namespace, as notes have it.
std::string full_name(const TracedNode& node);

/// Finds lives that follow each other: of nodes with the same name, and in such nodes of callbacks
/// with the same trigger.
Lives find_lives(const TracedSystem& system);

}  // namespace rclrt::trace
