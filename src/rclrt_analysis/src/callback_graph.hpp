// SPDX-License-Identifier: Apache-2.0
// The edges of an application's graph, computed once.
#pragma once

#include <cstddef>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::analysis::detail {

struct CallbackGraph {
  /// Throws std::invalid_argument for a graph with a cycle.
  explicit CallbackGraph(const model::Application& application);

  /// For each callback, the callbacks that take its messages; twice if they take two of its topics.
  std::vector<std::vector<std::size_t>> successors;
  /// For each callback and each of its inputs, the callbacks that publish it.
  std::vector<std::vector<std::vector<std::size_t>>> publishers;
  /// Topological order: publishers come before the callbacks that take their messages.
  std::vector<std::size_t> order;
};

}  // namespace rclrt::analysis::detail
