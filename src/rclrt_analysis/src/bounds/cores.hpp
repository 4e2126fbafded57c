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

/// Returns the condition that the executor runs on one CPU, as a sentence about the application.
std::string on_one_cpu(const model::Executor& executor);

struct Cores {
  Cores(const model::Application& application, const CallbackGraph& graph);

  std::vector<Core> cores;
  std::vector<std::size_t> executor_of;  ///< of each callback
  std::vector<std::size_t> core_of;      ///< of each executor
  /// For each executor, the number of its component. Two executors are in one component if they
  /// exchange messages or share a CPU, directly or through other executors.
  std::vector<std::size_t> component;

  /// Returns whether no other executor shares its CPU or exchanges messages with it.
  bool alone(std::size_t executor) const;

  /// Returns why the bounds do not cover this executor, as a sentence about the application;
  /// std::nullopt if they do. The reason is one of these: an executor of its component runs
  /// callbacks on several CPUs at once, or two executors share a CPU and one of them has other
  /// CPUs, too. `one_at_a_time`: an executor runs one callback at a time, on however many CPUs.
  /// `scheduled`: executors have scheduler threads. `on_several`: there are bounds for a global()
  /// executor.
  std::optional<std::string> contradiction(const model::Application& application,
                                           std::size_t executor, bool one_at_a_time, bool scheduled,
                                           bool on_several) const;

  /// Returns whether the executor runs callbacks on several CPUs, or on one CPU apart from its
  /// scheduler thread, and exchanges no messages with another executor. `scheduled`: executors have
  /// scheduler threads.
  bool global(const model::Application& application, std::size_t executor, bool scheduled) const;

  /// Returns the assumptions under which each executor of this one's component has its CPU or CPUs
  /// for itself, as sentences. `scheduled`: executors have scheduler threads. `one_at_a_time`,
  /// `on_several`: as for contradiction().
  std::vector<std::string> assumptions(const model::Application& application, std::size_t executor,
                                       bool scheduled, bool one_at_a_time, bool on_several) const;
};

}  // namespace rclrt::analysis::detail
