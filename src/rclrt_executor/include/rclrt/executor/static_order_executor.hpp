// SPDX-License-Identifier: Apache-2.0
// One set at a time, in a fixed order, when a condition holds: the scheduling of rclc.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// A callback of a StaticOrderExecutor, as its trigger sees it.
struct CallbackReadiness {
  const Callback* callback = nullptr;
  bool ready = false;  ///< an instance of the callback waits
};

/// Decides when a StaticOrderExecutor runs a set.
class RCLRT_EXECUTOR_EXPORT StaticOrderTrigger {
 public:
  virtual ~StaticOrderTrigger() = default;
  /// Returns whether the ready callbacks are to run now. `callbacks` has all callbacks in their
  /// order; at least one is ready. One thread at a time calls the function, any number of times, so
  /// the result must depend on `callbacks` only. Must not call the executor.
  virtual bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING = 0;
};

/// Returns the trigger that starts a set when any callback is ready: rclc's default. All calls
/// return the same object.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_any();
/// Returns the trigger that starts a set when every timer and every subscription is ready. In an
/// executor without timers and subscriptions, it starts a set when any callback is ready. All calls
/// return the same object.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_all();
/// Returns a trigger that holds when a callback of this name is ready.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_one(
    std::string name);

/// The options of a StaticOrderExecutor.
struct StaticOrderOptions {
  std::shared_ptr<const StaticOrderTrigger> trigger = trigger_any();
  /// true: all subscriptions that are ready when the trigger holds take their messages before the
  /// first callback runs, so all callbacks of one round work with the data of one time. Requests
  /// and responses of services are taken when their callbacks run. Messages that callbacks publish
  /// are sent at once, as with rclc's LET.
  bool logical_execution_time = false;
};

/// Runs sets of callbacks on one thread, at `top_priority` - 1. When the trigger holds, one
/// instance of each ready callback forms the set. The callbacks of a set run to completion, in
/// order of level (the highest first) and within a level in the order in which they were added.
/// Instances that become ready meanwhile belong to the next set. While the trigger does not hold,
/// all instances wait; those beyond a callback's queue depth are dropped. Staschulat, Luetkebohle
/// and Lange, "The rclc Executor: Domain-specific deterministic scheduling mechanisms for ROS
/// applications on microcontrollers", EMSOFT 2020.
///
/// After `prepare` it allocates nothing for the callbacks that it then has. Unlike rclc's executor,
/// it allows callbacks to be added and removed while it spins. If the end of a spin interrupts a
/// set, the next spin continues that set. With logical execution time a set always ends before the
/// spin does, also after a cancel or an exception, and `run_one_on_caller` is not offered.
class RCLRT_EXECUTOR_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument if `options` has Preemption::kAlways or
  /// more than one worker (`workers_per_level`), or if there is no trigger.
  RCLRT_SETUP explicit StaticOrderExecutor(ExecutorOptions options = {},
                                           StaticOrderOptions static_order = {});
};

}  // namespace rclrt::executor
