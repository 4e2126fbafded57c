// SPDX-License-Identifier: Apache-2.0
// The executors that rclrt has, and what tells them apart.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// How an executor decides what runs. The last two are simulated only.
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

/// What analyses, recordings and reports have to know of a kind.
struct ExecutorTraits {
  ExecutorKind kind{};
  std::string_view name;   ///< in files and on the command line
  std::string_view label;  ///< in reports
  bool simulated_only{};
  bool has_levels{};            ///< each thread has the priority of callbacks, and preempts
  bool has_scheduler_thread{};  ///< a thread above all callbacks hands the work out
  bool polls{};                 ///< looks for work at polling points, between callbacks
  bool one_at_a_time{};         ///< what has started is finished before anything else starts
  bool by_deadline{};           ///< absolute deadlines order the work, not priorities
  bool runs_sets{};             ///< what waits runs set by set, one instance of each callback

  bool operator==(const ExecutorTraits&) const = default;
};

/// Returns the traits of a kind. Throws std::invalid_argument for a value that is no enumerator.
/// Thread-safe.
RCLRT_MODEL_EXPORT const ExecutorTraits& traits(ExecutorKind kind);

/// Returns every kind, in the order of the enumerators. Thread-safe.
RCLRT_MODEL_EXPORT std::span<const ExecutorTraits> executor_kinds() noexcept;

/// Returns the kind that has this name; nullopt if none has it. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<ExecutorKind> executor_kind_of(std::string_view name) noexcept;

/// Returns the names of the kinds that run callbacks, separated by ", ". Thread-safe.
RCLRT_MODEL_EXPORT std::string executor_names();

/// Returns for each callback the priority of the application at which its thread runs: the
/// callback's own, under kPerGroup the highest in its group. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> thread_levels(const Application& application,
                                                  ExecutorKind kind);

/// Returns the SCHED_FIFO priority below which the threads of each executor run: what it states, by
/// default kTopPriority. Under kPicas, where none states any, the executors have the priorities
/// from kTopPriority down in the order of their most urgent callbacks, then of the file: Choi,
/// Xiang and Kim, "PiCAS: New design of priority-driven chain-aware scheduling for ROS2", RTAS
/// 2021, section V. Throws std::invalid_argument where these do not fit, where an executor's levels
/// or deadlines do not fit below what it states, and under kPicas where executors that may share a
/// CPU state the same one; not if `need_room` is false, because the kernel permits no real-time
/// priority and so no level takes one. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> top_priorities(const Application& application,
                                                   ExecutorKind kind, bool need_room = true);

}  // namespace rclrt::model
