// SPDX-License-Identifier: Apache-2.0
#include "rclrt/detail/action_server_base.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::detail {

ActionServerBase::ActionServerBase(const std::shared_ptr<NodeHandle>& node,
                                   const ActionNames& names,
                                   realtime::SaturatingNanoseconds result_timeout)
    : result_timeout_(result_timeout),
      // The QoS of `rcl_action_qos_profile_status_default`.
      statuses_(node, names.status_topic, QoS(1).transient_local()) {}

GoalStatus ActionServerBase::status(const GoalUUID& id) const {
  const std::scoped_lock lock(mutex_);
  return goals_.status(id);
}

bool ActionServerBase::advance_locked(const GoalUUID& id, rcl_action_goal_event_t event) {
  return goals_.advance(id, event, realtime::monotonic_now_ns());
}

std::vector<GoalUUID> ActionServerBase::expire_locked() {
  return goals_.expire(realtime::monotonic_now_ns(), result_timeout_.count());
}

void ActionServerBase::publish_status() {
  const std::scoped_lock publishing(publishing_);
  action_msgs::msg::GoalStatusArray message;
  {
    const std::scoped_lock lock(mutex_);
    message = goals_.statuses();
  }
  statuses_.publish(message);  // false after a shutdown: no client is left
}

}  // namespace rclrt::detail
