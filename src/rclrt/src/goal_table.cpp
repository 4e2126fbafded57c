// SPDX-License-Identifier: Apache-2.0
#include "rclrt/detail/goal_table.hpp"

#include <rcl_action/goal_state_machine.h>

#include <action_msgs/srv/cancel_goal.hpp>
#include <algorithm>

#include "rclrt/detail/time_message.hpp"

namespace rclrt::detail {

namespace {
std::int64_t to_ns(const builtin_interfaces::msg::Time& time) {
  return time.sec * realtime::kNanosecondsPerSecond + time.nanosec;
}

bool can_be_canceled(rcl_action_goal_state_t state) {
  return rcl_action_transition_goal_state(state, GOAL_EVENT_CANCEL_GOAL) != GOAL_STATE_UNKNOWN;
}
}  // namespace

bool GoalTable::accept(const GoalUUID& id, std::int64_t stamp_ns) {
  return goals_.emplace(id, Goal{stamp_ns, accepted_++, GOAL_STATE_ACCEPTED, 0}).second;
}

GoalStatus GoalTable::status(const GoalUUID& id) const {
  const auto found = goals_.find(id);
  return found == goals_.end() ? GoalStatus::kUnknown
                               : static_cast<GoalStatus>(found->second.state);
}

action_msgs::msg::GoalInfo GoalTable::info(const GoalUUID& id) const {
  action_msgs::msg::GoalInfo result;
  result.goal_id.uuid = id;
  result.stamp = time_message(goals_.at(id).stamp_ns);
  return result;
}

bool GoalTable::advance(const GoalUUID& id, rcl_action_goal_event_t event, std::int64_t now_ns) {
  const auto found = goals_.find(id);
  if (found == goals_.end()) {
    return false;
  }
  const auto next = rcl_action_transition_goal_state(found->second.state, event);
  if (next == GOAL_STATE_UNKNOWN) {
    return false;
  }
  found->second.state = next;
  if (is_terminal(static_cast<GoalStatus>(next))) {
    found->second.ended_ns = now_ns;
  }
  return true;
}

GoalTable::Selection GoalTable::to_cancel(const action_msgs::msg::GoalInfo& wanted) const {
  using Response = action_msgs::srv::CancelGoal::Response;
  const GoalUUID& id = wanted.goal_id.uuid;
  const bool has_id = id != GoalUUID{};
  const std::int64_t until_ns = to_ns(wanted.stamp);
  Selection result{Response::ERROR_NONE, {}};
  if (has_id && until_ns == 0) {
    const auto found = goals_.find(id);
    if (found == goals_.end()) {
      result.return_code = Response::ERROR_UNKNOWN_GOAL_ID;
    } else if (!can_be_canceled(found->second.state)) {
      result.return_code = Response::ERROR_GOAL_TERMINATED;
    } else {
      result.goals.push_back(id);
    }
    return result;
  }
  const bool all = !has_id && until_ns == 0;
  for (const auto& [each, goal] : goals_) {
    const bool is_meant = all || each == id || (until_ns != 0 && goal.stamp_ns <= until_ns);
    if (is_meant && can_be_canceled(goal.state)) {
      result.goals.push_back(each);
    }
  }
  return result;
}

action_msgs::msg::GoalStatusArray GoalTable::statuses() const {
  std::vector<const std::pair<const GoalUUID, Goal>*> ordered;
  for (const auto& each : goals_) {
    ordered.push_back(&each);
  }
  std::sort(ordered.begin(), ordered.end(),
            [](const auto* a, const auto* b) { return a->second.order < b->second.order; });
  action_msgs::msg::GoalStatusArray result;
  for (const auto* each : ordered) {
    action_msgs::msg::GoalStatus status;
    status.goal_info = info(each->first);
    status.status = each->second.state;
    result.status_list.push_back(status);
  }
  return result;
}

std::vector<GoalUUID> GoalTable::expire(std::int64_t now_ns, std::int64_t timeout_ns) {
  std::vector<GoalUUID> result;
  if (timeout_ns < 0) {
    return result;  // for ever
  }
  for (auto each = goals_.begin(); each != goals_.end();) {
    const Goal& goal = each->second;
    if (is_terminal(static_cast<GoalStatus>(goal.state)) && now_ns - goal.ended_ns >= timeout_ns) {
      result.push_back(each->first);
      each = goals_.erase(each);
    } else {
      ++each;
    }
  }
  return result;
}

}  // namespace rclrt::detail
