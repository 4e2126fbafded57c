// SPDX-License-Identifier: Apache-2.0
// Which executors share a CPU, and which depend on each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "callback_graph.hpp"

namespace rclrt::analysis::detail {

/// Executors whose threads run on one CPU, with what they run.
struct Core {
  std::vector<std::size_t> executors;
  std::vector<std::size_t> callbacks;
};

struct Cores {
  Cores(const model::Application& application, const CallbackGraph& graph);

  std::vector<Core> cores;
  std::vector<std::size_t> executor_of;  ///< of each callback
  std::vector<std::size_t> core_of;      ///< of each executor
  /// Of each executor: executors with one number exchange messages or share a CPU, also through
  /// others.
  std::vector<std::size_t> component;

  /// No other executor shares its CPU or exchanges messages with it.
  bool alone(std::size_t executor) const;

  /// All executors that share its CPU or exchange messages with it, also through others, have one
  /// CPU.
  bool on_one_core(std::size_t executor) const;

  /// What must be true of the machine for each executor of the component to have its CPU as `cores`
  /// says. `scheduled`: executors have scheduler threads.
  std::vector<std::string> assumptions(const model::Application& application, std::size_t executor,
                                       bool scheduled) const;
};

}  // namespace rclrt::analysis::detail
