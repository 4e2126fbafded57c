// SPDX-License-Identifier: Apache-2.0
// The configuration of a process of rclcpp nodes at launch, in one file: its executor, the
// priorities and deadlines of its callbacks, the scheduling of its threads, and a recording. Input
// is untrusted.
//
//   rclrt: 1
//   executor: {kind: preemptive, realtime: require, top_priority: 80, cpus: [2, 3]}
//   callbacks:                                      # a node priorities file, see node_timing.hpp
//     - {node: /controller_server, priority: 8, deadline_ms: 5}
//   threads:                                        # a thread plan, see thread_plan.hpp
//     - {name: middleware, policy: fifo, priority: 81}
//     - {function: "*tf2_ros::TransformListener*", policy: fifo, priority: 40}
//   recording: {directory: out, application: app.yaml}
//   monitor: {period_ms: 1000, topic: /diagnostics, misses: /misses, traces: out}
//   memory: {lock: true, prefault_heap_mb: 32}
//   write_priorities: found.yaml
//
// Each section may be left out.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/executor_kind.hpp"
#include "rclrt/model/export.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/thread_plan.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::model {

/// Whether an executor's threads run under SCHED_FIFO.
enum class RealtimeUse {
  kTry,      ///< where permitted
  kRequire,  ///< without permission the process ends with an error
  kOff,      ///< normal scheduling
};

/// Whether a more urgent callback preempts a running one.
enum class PreemptionUse {
  kByRealtime,  ///< where threads run under SCHED_FIFO
  kNever,       ///< callbacks run to completion
  kAlways,      ///< by the kernel's fair share, too
};

/// The section `executor`. Values that are not stated have the defaults of ExecutorOptions.
struct RobotExecutor {
  ExecutorKind kind = ExecutorKind::kPreemptive;  ///< one that runs rclcpp's nodes
  std::optional<RealtimeUse> realtime{};
  std::optional<PreemptionUse> preemption{};  ///< one that the kind offers
  std::optional<int> top_priority{};          ///< 2 to kTopPriority
  std::vector<int> cpus{};  ///< distinct; empty: those of the process. At most one for `edf`
  /// CPUs of the scheduler thread of `producer_consumer` and `thread_dispatch`; distinct. Empty:
  /// those of `cpus`.
  std::vector<int> scheduler_cpus{};
  std::optional<std::size_t> workers_per_level{};  ///< at least 1; not for kinds of one thread each
  /// Callbacks with a lower priority than this run under SCHED_OTHER. nullopt: none do. Only for
  /// `preemptive` and `producer_consumer`, and not if RobotRecording::application is set: the
  /// bounds of that application assume real-time scheduling of every callback.
  std::optional<int> best_effort_below{};
  /// Reservations by the priority of the callbacks; for the same kinds, without `cpus`.
  std::map<int, Reservation> reservations{};

  bool operator==(const RobotExecutor&) const = default;
};

/// The section `recording`.
struct RobotRecording {
  std::filesystem::path directory;
  std::filesystem::path application;  ///< an app.yaml; empty: none. Relative to the robot's file

  bool operator==(const RobotRecording&) const = default;
};

/// The section `monitor`.
struct RobotMonitor {
  std::optional<std::chrono::milliseconds> period{};  ///< 10 ms to an hour
  std::string topic{};                                ///< fully qualified; empty: not stated
  std::string statistics{};                           ///< a topic, too; empty: no statistics
  std::string misses{};                               ///< a topic of each miss; empty: none
  std::filesystem::path traces{};                     ///< a directory; empty: no traces

  bool operator==(const RobotMonitor&) const = default;
};

/// The section `memory`.
struct RobotMemory {
  bool lock = true;                  ///< into RAM, as far as permitted
  std::size_t prefault_heap_mb = 0;  ///< added to the heap at the start, and kept

  bool operator==(const RobotMemory&) const = default;
};

/// A whole file.
struct Robot {
  RobotExecutor executor{};
  std::vector<NodeTiming> callbacks{};
  ThreadPlan threads{};
  std::optional<RobotRecording> recording{};
  std::optional<RobotMonitor> monitor{};
  std::optional<RobotMemory> memory{};       ///< none: nothing is done
  std::filesystem::path write_priorities{};  ///< gets every callback that was found; empty: none

  bool operator==(const Robot&) const = default;
};

/// Either the robot, or at least one diagnostic in the order of the lines.
struct RobotResult {
  std::optional<Robot> robot;
  std::vector<yaml::Diagnostic> diagnostics;
};

/// Reads a robot from a text. Never throws on bad input (only std::bad_alloc). Thread-safe.
RCLRT_MODEL_EXPORT RobotResult parse_robot(std::string_view text);

/// Reads a robot.yaml. Throws yaml::FileError with every mistake and its position. Thread-safe.
RCLRT_MODEL_EXPORT Robot load_robot(const std::filesystem::path& file);

/// Returns the kinds of executors that can run rclcpp's nodes. Thread-safe.
RCLRT_MODEL_EXPORT std::vector<ExecutorKind> rclcpp_executor_kinds();

}  // namespace rclrt::model
