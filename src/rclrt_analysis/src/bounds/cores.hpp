// SPDX-License-Identifier: Apache-2.0
// Which executors share a CPU, and which depend on each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "callback_graph.hpp"

namespace rclrt::analysis::detail {

/// A CPU: the executors with threads on it, and their callbacks.
struct Core {
  std::vector<std::size_t> executors;
  std::vector<std::size_t> callbacks;
};

struct Cores {
  Cores(const model::Application& application, const CallbackGraph& graph);

  std::vector<Core> cores;
  std::vector<std::size_t> executor_of;  ///< of each callback
  std::vector<std::size_t> core_of;      ///< of each executor
  /// For each executor its component. Executors of one component exchange messages or share a CPU,
  /// directly or through others.
  std::vector<std::size_t> component;

  /// Returns whether no other executor shares its CPU or exchanges messages with it.
  bool alone(std::size_t executor) const;

  /// Returns whether all executors that share its CPU or exchange messages with it, directly or
  /// through others, have one CPU.
  bool on_one_core(std::size_t executor) const;

  /// Returns the statement of the application that contradicts the bounds of this executor, or
  /// std::nullopt if there is none. Such a statement is: several CPUs for an executor that runs
  /// callbacks on all of them at once, or a CPU that two executors name and that only one has for
  /// itself. `one_at_a_time`: an executor runs one callback at a time, regardless of its CPUs.
  /// `on_several`: there are bounds for a global() executor.
  std::optional<std::string> contradiction(const model::Application& application,
                                           std::size_t executor, bool one_at_a_time, bool scheduled,
                                           bool on_several) const;

  /// Returns whether the executor states several CPUs, or one besides those of its scheduler
  /// thread, and exchanges no messages with another executor.
  bool global(const model::Application& application, std::size_t executor, bool scheduled) const;

  /// Returns the assumptions about the machine under which each executor of the component has the
  /// CPU that `cores` states, or the CPUs that it states. `scheduled`: executors have scheduler
  /// threads.
  std::vector<std::string> assumptions(const model::Application& application, std::size_t executor,
                                       bool scheduled, bool one_at_a_time, bool on_several) const;
};

}  // namespace rclrt::analysis::detail
