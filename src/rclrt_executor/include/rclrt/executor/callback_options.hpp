// SPDX-License-Identifier: Apache-2.0
// What a callback is, and what became of its releases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

class Group;

/// What releases a callback. The order is the one in which rclcpp's executors look at a ready set.
enum class EntityType { kTimer, kSubscription, kService, kClient, kWaitable };

/// What happens to a release while earlier ones have not run.
enum class Overload {
  kQueue,     ///< it waits, as far as the credits reach; beyond them it is a drop
  kKeepLast,  ///< one instance waits at most and stands for the newest release; the others
              ///< are drops
  /// While an instance waits or runs, a release is a drop. It runs until the callback has returned:
  /// after the more urgent ones to which it publishes.
  kSkipIfRunning,
};

/// `CallbackOptions::number` of a callback that has none.
inline constexpr std::uint32_t kNoNumber = UINT32_MAX;

/// What a callback is.
struct CallbackOptions {
  std::string name;
  EntityType type = EntityType::kSubscription;
  int level = 0;                         ///< priority; higher is more urgent, any int
  std::size_t credits = 10;              ///< how many instances may wait: the QoS depth
  Overload overload = Overload::kQueue;  ///< other than kQueue: one instance waits at most
  std::shared_ptr<Group> group;          ///< nullptr: a group of its own, it excludes only itself
  std::int64_t deadline_ns = 0;          ///< counted from the release of each instance; 0: none
  std::uint32_t number = kNoNumber;      ///< chosen by the user; the engine only passes it on
};

/// How many instances there were. `released == completed + dropped + pending` at any quiet moment.
struct Counters {
  std::uint64_t released = 0;
  std::uint64_t completed = 0;
  std::uint64_t dropped = 0;
  /// Of a callback with a deadline: ended after it, or dropped by overload. Of the others 0.
  std::uint64_t missed = 0;
  /// Returns how many wait or run.
  std::uint64_t pending() const noexcept RCLRT_NONBLOCKING {
    return released - completed - dropped;
  }
};

}  // namespace rclrt::executor
