// SPDX-License-Identifier: Apache-2.0
// The kinds of executors, and their differences.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// The rule by which an executor chooses the next callback. The last two kinds are only simulated.
enum class ExecutorKind {
  kWaitSet,                     ///< one thread: polling points, ready sets, no preemption
  kProducerConsumer,            ///< a scheduler thread and a queue per priority
  kThreadDispatch,              ///< a scheduler thread and a thread per instance
  kPreemptive,                  ///< a queue per priority, as many workers each as it has CPUs
  kEdf,                         ///< the earliest absolute deadline, preemptive, on one CPU
  kEvents,                      ///< one thread, one queue: in order of release, no preemption
  kPicas,                       ///< one thread: the highest priority; what has started is finished
  kPerGroup,                    ///< a thread for each group, at its highest priority
  kStaticOrder,                 ///< one thread: ready sets, each in order of priority
  kWorkshop,                    ///< a pool of threads that take the priority of what they run
  kEdfNonPreemptive,            ///< the earliest absolute deadline; what has started is finished
  kFixedPriorityNonPreemptive,  ///< the highest priority; what has started is finished
};

/// The properties of a kind that analyses, recordings and reports depend on.
struct ExecutorTraits {
  ExecutorKind kind{};
  std::string_view name;   ///< in files and on the command line
  std::string_view label;  ///< in reports
  bool simulated_only{};
  bool has_levels{};            ///< each thread has the priority of callbacks, and preempts
  bool has_scheduler_thread{};  ///< a thread above all callbacks distributes the work
  bool polls{};                 ///< looks for work at polling points, between callbacks
  bool one_at_a_time{};         ///< a started callback is finished before any other starts
  bool by_deadline{};           ///< absolute deadlines order the work, instead of priorities
  bool runs_sets{};             ///< waiting work runs set by set, one instance of each callback

  bool operator==(const ExecutorTraits&) const = default;
};

/// Returns the traits of a kind. Throws std::invalid_argument for a value that is no enumerator.
/// Thread-safe.
RCLRT_MODEL_EXPORT const ExecutorTraits& traits(ExecutorKind kind);

/// Returns every kind, in the order of the enumerators. Thread-safe.
RCLRT_MODEL_EXPORT std::span<const ExecutorTraits> executor_kinds() noexcept;

/// Returns the kind with this name, or nullopt if there is none. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<ExecutorKind> executor_kind_of(std::string_view name) noexcept;

/// Returns the names of the kinds that run callbacks, separated by ", ". Thread-safe.
RCLRT_MODEL_EXPORT std::string executor_names();

/// Returns for each callback the application's priority at which its thread runs: the callback's
/// own, or under kPerGroup the highest in its group. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> thread_levels(const Application& application,
                                                  ExecutorKind kind);

/// Returns the SCHED_FIFO priority below which the threads of each executor run: the stated one, by
/// default kTopPriority. Under kPicas, if no executor states any, the executors have the priorities
/// from kTopPriority down, in the order of their most urgent callbacks, then of the file: Choi,
/// Xiang and Kim, "PiCAS: New design of priority-driven chain-aware scheduling for ROS2", RTAS
/// 2021, section V. Throws std::invalid_argument if these do not fit, if an executor's levels or
/// deadlines do not fit below its stated priority, and under kPicas if executors that may share a
/// CPU state the same one. Does not throw if `need_room` is false: then the kernel permits no
/// real-time priority, and no level takes one. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> top_priorities(const Application& application,
                                                   ExecutorKind kind, bool need_room = true);

}  // namespace rclrt::model
