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
  /// `scheduled`: executors have scheduler threads.
  Cores(const model::Application& application, const CallbackGraph& graph, bool scheduled);

  std::vector<Core> cores;
  std::vector<std::size_t> executor_of;  ///< of each callback
  std::vector<std::size_t> core_of;      ///< of each executor
  /// For each executor, the number of its component. Two executors are in one component if they
  /// exchange messages or share a CPU, directly or through other executors.
  std::vector<std::size_t> component;

  /// Returns whether no other executor shares its CPU or exchanges messages with it.
  bool alone(std::size_t executor) const;

  /// Returns the executors of this one's component, and their callbacks.
  Core whole_component(std::size_t executor) const;

  /// Returns why the bounds do not cover this executor, as a sentence about the application;
  /// std::nullopt if they do. The reason is one of these: an executor of its component runs
  /// callbacks on several CPUs at once, or two executors share a CPU and one of them has other
  /// CPUs, too. `one_at_a_time`: an executor runs one callback at a time, on however many CPUs.
  /// `on_several`: there are bounds for a global() component.
  std::optional<std::string> contradiction(const model::Application& application,
                                           std::size_t executor, bool one_at_a_time,
                                           bool on_several) const;

  /// Returns whether an executor of this one's component runs callbacks on several CPUs, or has its
  /// scheduler thread on another CPU, and all of them state their CPUs. Executors that run
  /// `one_at_a_time` are global() only if two of them share a CPU, and one of these has several.
  bool global(const model::Application& application, std::size_t executor,
              bool one_at_a_time) const;

  /// Returns whether all executors of this one's component state their CPUs.
  bool all_state_cpus(const model::Application& application, std::size_t executor) const;

  /// Returns the assumptions about CPUs and threads under which the bounds of this executor's
  /// component hold, as sentences. `one_at_a_time`, `on_several`: as for contradiction().
  std::vector<std::string> assumptions(const model::Application& application, std::size_t executor,
                                       bool one_at_a_time, bool on_several) const;

 private:
  /// Returns the executors of this one's component.
  std::vector<std::size_t> executors_with(std::size_t executor) const;

  /// Returns that an executor of this one's component states no CPUs, but another one several, as a
  /// sentence; std::nullopt if that is not so.
  std::optional<std::string> missing_cpus(const model::Application& application,
                                          std::size_t executor) const;

  /// Returns whether two threads of this executor's component have several CPUs each, some in
  /// common but not all.
  bool share_some_cpus(const model::Application& application, std::size_t executor) const;

  bool scheduled_;
};

/// A condition of bounds on messages from one process to another.
inline constexpr const char* kMiddlewareHandsOver =
    "callbacks do not keep the middleware from handing messages over (threads: middleware, policy: "
    "fifo, priority: 96)";

/// A condition of bounds for executors that share some of their CPUs.
inline constexpr const char* kPullsAnyThread =
    "the kernel moves any waiting thread to a CPU that is free for it, also behind a more urgent "
    "thread that has to stay (echo NO_RT_PUSH_IPI >/sys/kernel/debug/sched/features)";

/// Returns whether the two lists have a CPU in common.
bool overlap(const std::vector<int>& cpus, const std::vector<int>& others);

/// Returns the CPUs of the executor's scheduler thread.
/// The end of the condition that an executor runs on one CPU: see on_one_cpu().
inline constexpr const char* kRunsOnOneCpu = "' runs on one CPU (cpus: [n])";

const std::vector<int>& scheduler_cpus(const model::Executor& executor);

}  // namespace rclrt::analysis::detail
