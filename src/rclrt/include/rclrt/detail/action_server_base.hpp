// SPDX-License-Identifier: Apache-2.0
// The part of an action server that does not depend on the action's type.
#pragma once

#include <action_msgs/msg/goal_status_array.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rclrt/action.hpp"
#include "rclrt/detail/goal_table.hpp"
#include "rclrt/export.hpp"
#include "rclrt/publisher.hpp"
#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt::detail {

class RCLRT_EXPORT ActionServerBase {
 public:
  RCLRT_SETUP ActionServerBase(const std::shared_ptr<NodeHandle>& node, const ActionNames& names,
                               realtime::SaturatingNanoseconds result_timeout);
  ActionServerBase(const ActionServerBase&) = delete;
  ActionServerBase& operator=(const ActionServerBase&) = delete;

  GoalStatus status(const GoalUUID& id) const;

 protected:
  ~ActionServerBase() = default;

  /// Advances a goal's state. The caller holds `mutex_`.
  bool advance_locked(const GoalUUID& id, rcl_action_goal_event_t event);
  std::vector<GoalUUID> expire_locked();

  /// Publishes the status of all goals, as of this call or newer. Throws nothing.
  void publish_status();

  mutable realtime::PiMutex mutex_;  // guards goals_ and what derived classes keep beside it; never
                                     // held while a message is sent or a callback runs
  GoalTable goals_;

 private:
  const realtime::SaturatingNanoseconds result_timeout_;
  realtime::PiMutex publishing_;  // one at a time, so the newest status is published last
  Publisher<action_msgs::msg::GoalStatusArray> statuses_;
};

}  // namespace rclrt::detail
