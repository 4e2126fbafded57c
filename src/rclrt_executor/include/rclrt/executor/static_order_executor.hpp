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
  bool ready = false;  ///< an instance of it waits
};

/// Says when a StaticOrderExecutor runs a set.
class RCLRT_EXECUTOR_EXPORT StaticOrderTrigger {
 public:
  virtual ~StaticOrderTrigger() = default;
  /// Returns whether a set is to be run, of the callbacks in their order, one of which is ready at
  /// least. Called by one thread at a time, as often as the executor likes: the answer must depend
  /// on nothing but `callbacks`. Must not call the executor.
  virtual bool holds(std::span<const CallbackReadiness> callbacks) const noexcept
      RCLRT_NONBLOCKING = 0;
};

/// Returns the trigger that holds when anything is ready: rclc's default. One for all.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_any();
/// Returns the trigger that holds when every timer and every subscription is ready; of an executor
/// without any, when anything is. One for all.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_all();
/// Returns a trigger that holds when a callback of this name is ready.
RCLRT_EXECUTOR_EXPORT RCLRT_SETUP std::shared_ptr<const StaticOrderTrigger> trigger_one(
    std::string name);

/// How a StaticOrderExecutor chooses what runs.
struct StaticOrderOptions {
  std::shared_ptr<const StaticOrderTrigger> trigger = trigger_any();
  /// Every subscription of a set takes its message before the first callback of the set runs: the
  /// callbacks of one set work with what there was at one time. Requests and responses of services
  /// are taken when they run. What callbacks publish goes out at once, as with rclc's LET.
  bool logical_execution_time = false;
};

/// Runs sets on one thread, at `top_priority` - 1. When the trigger holds, one instance of each
/// callback that is ready is the set; it runs in order of level, the highest first, and in order of
/// addition within a level, each to its end. What becomes ready meanwhile is for the next set.
/// While the trigger does not hold, everything waits, as far as credits reach. Staschulat,
/// Luetkebohle and Lange, "The rclc Executor: Domain-specific deterministic scheduling mechanisms
/// for ROS applications on microcontrollers", EMSOFT 2020.
///
/// With the callbacks that it has at `prepare` it allocates nothing afterwards; unlike rclc's, it
/// lets others come and go while it spins. Where a set was cut off by the end of a spin, the next
/// spin goes on with it. With logical execution time a set ends before the spin does, also after a
/// cancel or an exception, and `run_one_on_caller` is not offered.
class RCLRT_EXECUTOR_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways, for more than one
  /// of `workers_per_level`, and for no trigger.
  RCLRT_SETUP explicit StaticOrderExecutor(ExecutorOptions options = {},
                                           StaticOrderOptions static_order = {});
};

}  // namespace rclrt::executor
