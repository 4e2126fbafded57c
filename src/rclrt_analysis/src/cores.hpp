// SPDX-License-Identifier: Apache-2.0
// Which executors share a CPU, and which depend on each other.
#pragma once

#include <cstddef>
#include <optional>
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

  /// Returns what the application states that no bound of this executor allows for: several CPUs
  /// of an executor that runs callbacks on all of them at once, or a CPU that two executors name
  /// and only one has for itself. std::nullopt: nothing. `one_at_a_time`: an executor runs one
  /// callback at a time, whatever its CPUs.
  std::optional<std::string> contradiction(const model::Application& application,
                                           std::size_t executor, bool one_at_a_time) const;

  /// What must be true of the machine for each executor of the component to have its CPU as `cores`
  /// says. `scheduled`: executors have scheduler threads.
  std::vector<std::string> assumptions(const model::Application& application, std::size_t executor,
                                       bool scheduled, bool one_at_a_time) const;
};

}  // namespace rclrt::analysis::detail
