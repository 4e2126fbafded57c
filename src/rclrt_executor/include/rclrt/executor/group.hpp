// SPDX-License-Identifier: Apache-2.0
// Callbacks that exclude each other.
#pragma once

#include "rclrt/executor/detail/group_state.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/group_type.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// A callback group: a set of callbacks, all in one executor at a time. At most one member of a
/// mutually exclusive group runs at a time. Members of a reentrant group may run at the same time,
/// also several instances of one member. A callback gets its group when it is constructed, and
/// keeps the group alive.
///
/// No thread ever waits for a group. A member runs at the priority of the group's most urgent
/// member (immediate ceiling), so a callback is blocked by at most one less urgent member, once,
/// before it starts (Sha, Rajkumar, Lehoczky 1990).
class RCLRT_EXECUTOR_EXPORT Group {
 public:
  /// Belongs to no executor yet.
  RCLRT_SETUP explicit Group(GroupType type = GroupType::kMutuallyExclusive) : state_(type) {}

  /// Returns whether members exclude each other; thread-safe.
  GroupType type() const noexcept RCLRT_NONBLOCKING { return state_.type(); }

 private:
  friend class Access;

  detail::GroupState state_;
};

}  // namespace rclrt::executor
