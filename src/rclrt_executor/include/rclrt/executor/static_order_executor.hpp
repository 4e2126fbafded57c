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
  /// Returns whether a set is to be run. `callbacks` are in their order, and at least one is ready.
  /// Called by one thread at a time, any number of times: the result must depend on nothing but
  /// `callbacks`. Must not call the executor.
  virtual bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING = 0;
};

/// Returns the trigger that holds when any callback is ready: rclc's default. All calls return the
/// same object.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_any();
/// Returns the trigger that holds when every timer and every subscription is ready. In an executor
/// without timers and subscriptions it holds when any callback is ready. All calls return the same
/// object.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_all();
/// Returns a trigger that holds when a callback of this name is ready.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_one(
    std::string name);

/// The options of a StaticOrderExecutor.
struct StaticOrderOptions {
  std::shared_ptr<const StaticOrderTrigger> trigger = trigger_any();
  /// Every subscription of a set takes its message before the first callback of the set runs: the
  /// callbacks of one set work with the data of one time. Requests and responses of services are
  /// taken when their callbacks run. Messages that callbacks publish are sent at once, as with
  /// rclc's LET.
  bool logical_execution_time = false;
};

/// Runs sets on one thread, at `top_priority` - 1. When the trigger holds, one instance of each
/// ready callback forms the set. The set runs in order of level, the highest first, and in order of
/// addition within a level, each instance to completion. Instances that become ready meanwhile
/// belong to the next set. While the trigger does not hold, all instances wait, as far as credits
/// reach. Staschulat, Luetkebohle and Lange, "The rclc Executor: Domain-specific deterministic
/// scheduling mechanisms for ROS applications on microcontrollers", EMSOFT 2020.
///
/// It allocates nothing after `prepare` for the callbacks that it has then. Unlike rclc's executor,
/// it allows others to be added and removed while it spins. If the end of a spin interrupted a set,
/// the next spin continues that set. With logical execution time a set ends before the spin does,
/// also after a cancel or an exception, and `run_one_on_caller` is not offered.
class RCLRT_EXECUTOR_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways, for more than one
  /// of `workers_per_level`, and for no trigger.
  RCLRT_SETUP explicit StaticOrderExecutor(ExecutorOptions options = {},
                                           StaticOrderOptions static_order = {});
};

}  // namespace rclrt::executor
