// SPDX-License-Identifier: Apache-2.0
// The goals of an action server and their states. Pure: no clock, no lock.
#pragma once

#include <rcl_action/types.h>

#include <action_msgs/msg/goal_info.hpp>
#include <action_msgs/msg/goal_status_array.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "rclrt/action.hpp"
#include "rclrt/export.hpp"

namespace rclrt::detail {

class RCLRT_EXPORT GoalTable {
 public:
  /// Adds a goal that was accepted at `stamp_ns` (system time, as in all messages). Returns false
  /// if a goal with this id exists already.
  bool accept(const GoalUUID& id, std::int64_t stamp_ns);
  /// Returns the status; kUnknown if the goal does not exist.
  GoalStatus status(const GoalUUID& id) const;
  /// Returns the goal's id with the stamp of its acceptance. The goal must exist.
  action_msgs::msg::GoalInfo info(const GoalUUID& id) const;
  /// Applies `event` to the goal in rcl_action's state machine. Returns false if the goal's state
  /// has no such transition. `now_ns` is the current time on the clock of `expire`.
  bool advance(const GoalUUID& id, rcl_action_goal_event_t event, std::int64_t now_ns);

  /// The result of a cancel request: the goals that it selects among those that can be canceled. A
  /// request selects one id, the goals accepted at or before a time stamp, both of these, or all
  /// goals if it has neither. `return_code` is the answer to the client, also if no goal is
  /// selected.
  struct Selection {
    std::int8_t return_code;
    std::vector<GoalUUID> goals;
  };
  Selection to_cancel(const action_msgs::msg::GoalInfo& wanted) const;

  /// Returns the status of all goals, in order of acceptance.
  action_msgs::msg::GoalStatusArray statuses() const;

  /// Removes the goals that ended more than `timeout_ns` before `now_ns`, and returns their ids.
  /// Removes none if `timeout_ns` is negative.
  std::vector<GoalUUID> expire(std::int64_t now_ns, std::int64_t timeout_ns);

 private:
  struct Goal {
    std::int64_t stamp_ns;
    std::uint64_t order;  // of acceptance
    rcl_action_goal_state_t state;
    std::int64_t ended_ns;
  };
  std::map<GoalUUID, Goal> goals_;
  std::uint64_t accepted_ = 0;
};

}  // namespace rclrt::detail
