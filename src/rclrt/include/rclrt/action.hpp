// SPDX-License-Identifier: Apache-2.0
// The types and names that both sides of an action share.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "rclrt/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt {

/// Identifies one goal, for ever.
using GoalUUID = std::array<std::uint8_t, 16>;

/// As in action_msgs/msg/GoalStatus.
enum class GoalStatus : std::int8_t {
  kUnknown,  ///< unknown to the server, or its result has expired
  kAccepted,
  kExecuting,
  kCanceling,
  kSucceeded,
  kCanceled,
  kAborted,
};

/// Whether the goal has ended.
constexpr bool is_terminal(GoalStatus status) noexcept { return status >= GoalStatus::kSucceeded; }

namespace detail {

/// The services and topics an action consists of.
struct ActionNames {
  std::string goal_service;
  std::string cancel_service;
  std::string result_service;
  std::string feedback_topic;
  std::string status_topic;
};

/// Returns the names. Throws Error, for example if `action` is empty.
RCLRT_EXPORT RCLRT_SETUP ActionNames action_names(const std::string& action);

/// Returns a new identifier. Throws std::runtime_error if the kernel has no random numbers.
RCLRT_EXPORT GoalUUID make_goal_uuid();

}  // namespace detail

}  // namespace rclrt
