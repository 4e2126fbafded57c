// SPDX-License-Identifier: Apache-2.0
// Nodes that die and come again: which nodes and callbacks of a trace are later lives of others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traced_system.hpp"

namespace rclrt::trace {

/// What is one, however often it lived. A later life begins when the one before has ended: lives
/// that overlap are of nodes that run at once, and stay apart.
struct Lives {
  std::vector<std::uint32_t> process_of;   ///< per process: that which stands for all its lives
  std::vector<std::uint32_t> node_of;      ///< ditto, per node
  std::vector<std::uint32_t> callback_of;  ///< ditto, per callback
  std::vector<std::uint32_t> executor_of;  ///< ditto, per executor
  /// Per callback: as all its lives together have it. What stands for others' lives is complete.
  std::vector<TracedCallback> callbacks;
  std::vector<std::string> notes;
};

/// Returns what a node is called in notes: with its namespace.
std::string full_name(const TracedNode& node);

/// Finds the lives that follow each other: of nodes of one name, and within a node of callbacks
/// that are started by the same thing.
Lives find_lives(const TracedSystem& system);

}  // namespace rclrt::trace
