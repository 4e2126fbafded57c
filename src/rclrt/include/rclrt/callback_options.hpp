// SPDX-License-Identifier: Apache-2.0
// The options that callbacks of every type have.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "rclrt/executor/callback.hpp"
#include "rclrt/executor/group.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/executor/timer.hpp"
#include "rclrt/realtime/duration.hpp"

namespace rclrt {

/// A group of callbacks, mutually exclusive or reentrant.
using CallbackGroup = executor::Group;
/// Whether the callbacks of a group exclude each other.
using CallbackGroupType = executor::GroupType;
/// Information about the running instance.
using InstanceInfo = executor::InstanceInfo;
/// The policy for the overdue releases of a timer.
using OverrunPolicy = executor::OverrunPolicy;
/// The policy for releases that arrive while earlier ones wait.
using Overload = executor::Overload;
using executor::current_instance;

/// Options of every callback, set when it is created.
struct CallbackOptions {
  int priority = 0;  ///< higher is more urgent; any int
  /// The callback group. nullptr: the callback excludes only itself. (In rclcpp it would join the
  /// node's default group, and exclude all callbacks of the node.)
  std::shared_ptr<CallbackGroup> group{};
  /// The policy for releases that arrive while earlier ones have not run. The `wait_set` executor
  /// always queues them. Services and clients accept only kQueue.
  Overload overload = Overload::kQueue;
  realtime::SaturatingNanoseconds
      deadline{};      ///< counted from the release of each instance; 0: none
  std::string name{};  ///< for traces and results; default: the topic, or "timer"
  /// For subscriptions only. true: messages of publishers of the same context arrive by reference,
  /// without the middleware, a copy or an allocation. Other messages arrive through the middleware.
  /// Not available with transient_local, deadlines of the topic or liveliness by topic, because
  /// these need the middleware to see every message.
  bool intra_process = false;
};

namespace detail {

/// Makes the callbacks with these options exclude each other and themselves: unless the options
/// name a mutually exclusive group already, sets them to a new one.
inline void exclude_each_other(CallbackOptions& options) {
  if (!options.group || options.group->type() == CallbackGroupType::kReentrant) {
    options.group = std::make_shared<CallbackGroup>();
  }
}

}  // namespace detail

/// The release times of a timer, besides its period.
struct TimerOptions {
  /// First release = epoch of the executor + offset; negative: one period, as in rclcpp.
  realtime::SaturatingNanoseconds offset = std::chrono::nanoseconds(-1);
  OverrunPolicy overrun = OverrunPolicy::kCatchUp;
  std::size_t depth = 10;  ///< how many releases may wait for the callback
};

}  // namespace rclrt
