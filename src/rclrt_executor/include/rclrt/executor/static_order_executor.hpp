// SPDX-License-Identifier: Apache-2.0
// One set at a time, in a fixed order, when a condition holds: the scheduling of rclc.
#pragma once

#include <functional>
#include <span>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// A callback of a StaticOrderExecutor, as its trigger sees it.
struct CallbackReadiness {
  const Callback* callback = nullptr;
  bool ready = false;  ///< an instance of it waits
};

/// Says whether a set is to be run, of the callbacks in their order. Called on the thread that runs
/// callbacks, or on one that spins, one at a time, whenever something has become ready: must not
/// block, throw, allocate or call the executor.
using StaticOrderTrigger = std::function<bool(std::span<const CallbackReadiness>)>;

/// Returns a trigger that holds when anything is ready: rclc's default.
RCLRT_EXECUTOR_EXPORT StaticOrderTrigger trigger_any();
/// Returns a trigger that holds when every timer and every subscription is ready, and there is one.
RCLRT_EXECUTOR_EXPORT StaticOrderTrigger trigger_all();
/// Returns a trigger that holds when `callback` is ready. Compares its address alone.
RCLRT_EXECUTOR_EXPORT StaticOrderTrigger trigger_one(const Callback& callback);

/// How a StaticOrderExecutor chooses what runs.
struct StaticOrderOptions {
  StaticOrderTrigger trigger = trigger_any();
  /// Every subscription of a set takes its message before the first callback of the set runs: the
  /// callbacks of one set work with what there was at one time. What they publish goes out at once,
  /// as with rclc's LET.
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
/// spin goes on with it; a set that took its messages ahead ends before the spin does.
class RCLRT_EXECUTOR_EXPORT StaticOrderExecutor final : public Executor {
 public:
  /// Creates no thread yet. Throws std::invalid_argument for Preemption::kAlways, for more than one
  /// of `workers_per_level`, and for a trigger that is empty.
  RCLRT_SETUP explicit StaticOrderExecutor(ExecutorOptions options = {},
                                           StaticOrderOptions static_order = {});
};

}  // namespace rclrt::executor
