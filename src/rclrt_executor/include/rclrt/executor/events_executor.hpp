// SPDX-License-Identifier: Apache-2.0
// One queue of events in order of release: the scheduling of rclcpp's EventsExecutor.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Options with which an EventsExecutor follows rclcpp's.
struct EventsOptions {
  /// Timers run on a second thread, beside the thread that runs all other callbacks, as with
  /// rclcpp's `execute_timers_separate_thread`. Callbacks of one mutually exclusive group still
  /// exclude each other.
  bool timers_thread = false;
};

/// Runs all callbacks on one thread, in order of release, at `top_priority` - 1. Each message and
/// each expired timer is an entry of one queue. Priorities are recorded and otherwise ignored.
/// Unlike `wait_set`, it has no polling points: only the order of callbacks differs, and neither of
/// the two preempts. The queue holds at most as many entries of an entity as the entity's queue
/// depth. A late timer follows its overrun policy.
class RCLRT_EXECUTOR_EXPORT EventsExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument if `options` has Preemption::kAlways or
  /// more than one worker (`workers_per_level`).
  RCLRT_SETUP explicit EventsExecutor(ExecutorOptions options = {}, EventsOptions events = {});
};

}  // namespace rclrt::executor
