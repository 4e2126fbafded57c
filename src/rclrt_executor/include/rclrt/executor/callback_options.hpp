// SPDX-License-Identifier: Apache-2.0
// The options of a callback, and the counters of its releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

class Group;

/// The kind of entity that releases a callback. The values are in the order in which rclcpp's
/// executors run the ready entities of a wait set.
enum class EntityType { kTimer, kSubscription, kService, kClient, kWaitable };

/// The treatment of a release while earlier ones have not run.
enum class Overload {
  kQueue,     ///< it waits if a credit is left; otherwise it is a drop
  kKeepLast,  ///< at most one instance waits, for the newest release; the others are drops
  /// A release is dropped while an instance of the callback waits or runs. An instance counts as
  /// running until its callback has returned, also while more urgent callbacks preempt it.
  kSkipIfRunning,
};

/// The value of `CallbackOptions::number` if the callback has no number.
inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

/// The options of a callback.
struct CallbackOptions {
  std::string name;
  EntityType type = EntityType::kSubscription;
  int level = 0;                         ///< priority; higher is more urgent, any int
  std::size_t credits = 10;              ///< number of instances that may wait: the QoS depth
  Overload overload = Overload::kQueue;  ///< other than kQueue: one instance waits at most
  std::shared_ptr<Group> group;      ///< nullptr: a group of its own, which excludes only itself
  std::int64_t deadline_ns = 0;      ///< counted from the release of each instance; 0: none
  std::uint32_t number = kNoNumber;  ///< chosen by the user; the engine does not use it
};

/// Numbers of instances. `released == completed + dropped + pending` while no thread changes them.
struct Counters {
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t dropped = 0;
  /// Instances that ended after their deadline or were dropped by overload. 0 without a deadline.
  std::uint64_t missed = 0;
  /// Returns the number of instances that wait or run.
  std::uint64_t pending() const noexcept RCLRT_NONBLOCKING {
    return released - completed - dropped;
  }
};

}  // namespace rclrt::executor
