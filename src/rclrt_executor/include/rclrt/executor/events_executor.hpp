// SPDX-License-Identifier: Apache-2.0
// One queue of events in order of release: the scheduling of rclcpp's EventsExecutor.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Options with which an EventsExecutor follows rclcpp's.
struct EventsOptions {
  /// Timers run on a thread of their own, beside the messages, as with
  /// `execute_timers_separate_thread`: the callbacks of one group still exclude each other.
  bool timers_thread = false;
};

/// Runs everything in order of release on one thread, at `top_priority` - 1: each message and each
/// expired timer is an entry of one queue. Priorities are recorded and ignored. There are no
/// polling points, so it differs from `wait_set` in the order, not in preemption. A queue holds as
/// many entries of an entity as its depth; a late timer follows its overrun policy.
class RCLRT_EXECUTOR_EXPORT EventsExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways, and for more than
  /// one of `workers_per_level`.
  RCLRT_SETUP explicit EventsExecutor(ExecutorOptions options = {}, EventsOptions events = {});
};

}  // namespace rclrt::executor
