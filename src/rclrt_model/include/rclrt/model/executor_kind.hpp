// SPDX-License-Identifier: Apache-2.0
// The registry of executors: their kinds, and the differences of these.
#pragma once

#include <cstdint>
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

/// The threads of an executor.
enum class ExecutorThreads {
  kFixed,        ///< as many as its options state; each runs any callback
  kPerLevel,     ///< some for each priority
  kPerInstance,  ///< one is started for each instance
  kPerGroup,     ///< one for each group, at the highest priority of its callbacks
  kPool,         ///< each has the priority of the callback that it runs
  kPerDeadline,  ///< one for each distinct relative deadline
};

/// An option that belongs to one kind. In a name it follows the kind, after a colon.
struct ExecutorOption {
  /// `static`, `order=arbitrary`, `threads=N` (a number) or `trigger_on=CALLBACK` (an id).
  std::string_view text;
  std::string_view help;              ///< one sentence
  std::string_view no_bounds{};       ///< why there are no bounds with it; empty: there are bounds
  bool several_threads = false;       ///< its callbacks run on several threads
  std::string_view belongs_to{};      ///< the option that must be stated as well; empty: none
  std::string_view in_place_of{};     ///< the name of the option that it excludes; empty: none
  bool is_default{};                  ///< has the same meaning as no option
  std::uint64_t lowest{};             ///< of the number N
  std::uint64_t highest{UINT64_MAX};  ///< of the number N

  bool operator==(const ExecutorOption&) const = default;

  /// Returns the part before the equals sign.
  constexpr std::string_view name() const noexcept { return text.substr(0, text.find('=')); }
  /// Returns the part after the equals sign: a word, `N`, `CALLBACK`, or empty.
  constexpr std::string_view value() const noexcept {
    return text.size() == name().size() ? std::string_view() : text.substr(name().size() + 1);
  }
};

/// The properties of one kind of executor. The analysis, recordings, reports, commands, schemas and
/// documentation take everything about a kind from here.
struct ExecutorTraits {
  ExecutorKind kind{};
  std::string_view name;        ///< in files and on the command line
  std::string_view label;       ///< in reports
  std::string_view class_name;  ///< of the C++ class; empty: the kind is only simulated
  std::string_view summary;     ///< what it is, in one phrase
  std::string_view assumption;  ///< what its bounds assume of the executor
  ExecutorThreads threads{};
  bool simulated_only{};
  bool on_rclcpp{};             ///< offered for the nodes of rclcpp
  bool has_levels{};            ///< each thread has the priority of callbacks, and preempts
  bool has_scheduler_thread{};  ///< a thread above all callbacks distributes the work
  bool has_worker_count{};      ///< its number of workers can be stated: `workers_per_level`
  bool polls{};                 ///< looks for work at polling points, between callbacks
  bool one_at_a_time{};         ///< a started callback is finished before any other starts
  bool by_deadline{};           ///< absolute deadlines order the work, instead of priorities
  bool runs_sets{};             ///< waiting work runs set by set, one instance of each callback
  /// An executor has one kernel priority. Executors without a stated one are ordered by their most
  /// urgent callbacks.
  bool orders_executors{};
  std::span<const ExecutorOption> options{};

  /// Compares the kinds, which determine the rest.
  bool operator==(const ExecutorTraits& other) const noexcept { return kind == other.kind; }
};

/// Returns the traits of a kind. Throws std::invalid_argument if `kind` is no enumerator.
/// Thread-safe.
RCLRT_MODEL_EXPORT const ExecutorTraits& traits(ExecutorKind kind);

/// Returns every kind, in the order of the enumerators. Thread-safe.
RCLRT_MODEL_EXPORT std::span<const ExecutorTraits> executor_kinds() noexcept;

/// Returns the kind with this name, or nullopt if there is none. Thread-safe.
RCLRT_MODEL_EXPORT std::optional<ExecutorKind> executor_kind_of(std::string_view name) noexcept;

/// Returns the names of the kinds that run callbacks, separated by ", ". Thread-safe.
RCLRT_MODEL_EXPORT std::string executor_names();

/// Returns one text with the options of all kinds and their ranges, for the help of a command:
/// "threads=N (1 to 64), static of wait_set; timers_thread of events". Thread-safe.
RCLRT_MODEL_EXPORT std::string executor_options_help();

/// Returns for each callback the highest priority of all callbacks in its group; without a group,
/// its own priority. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> group_levels(const Application& application);

/// Returns for each callback the priority of app.yaml that its thread has: the callback's own, or
/// with ExecutorThreads::kPerGroup the highest in its group. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> thread_levels(const Application& application,
                                                  ExecutorKind kind);

/// Returns for each executor the SCHED_FIFO priority below which its threads run: its
/// `top_priority`, or kTopPriority if it states none. Exception: with `orders_executors`, if no
/// executor states one, the executors get kTopPriority and the priorities below it, in the order of
/// their most urgent callbacks, then of the file (Choi, Xiang and Kim, "PiCAS: New design of
/// priority-driven chain-aware scheduling for ROS2", RTAS 2021, section V).
///
/// Throws std::invalid_argument if there are not enough priorities for the executors, or below an
/// executor's stated priority for its levels or deadlines, and with `orders_executors` if executors
/// that may share a CPU state the same one. With `need_room` false it never throws: use this if the
/// kernel permits no real-time priority, so that no level takes one. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> top_priorities(const Application& application,
                                                   ExecutorKind kind, bool need_room = true);

/// Returns for each callback the SCHED_FIFO priority of its thread if the kernel permits it: the
/// executor's levels have the priorities below its `top_priority`, at least 1; without levels, each
/// callback has the highest of these. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<int> kernel_priorities(const Application& application,
                                                      ExecutorKind kind);

}  // namespace rclrt::model
