// SPDX-License-Identifier: Apache-2.0
#include "rclrt/action.hpp"

#include <rcl_action/names.h>
#include <sys/random.h>

#include "rclrt/error.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::detail {

namespace {
template <typename GetName>
std::string name_by(GetName get_name, const std::string& action) {
  const rcl_allocator_t allocator = rcl_get_default_allocator();
  char* name = nullptr;
  check(get_name(action.c_str(), allocator, &name),
        "naming the parts of action \"" + action + "\"");
  std::string result = name;
  allocator.deallocate(name, allocator.state);
  return result;
}
}  // namespace

ActionNames action_names(const std::string& action) {
  return {.goal_service = name_by(&rcl_action_get_goal_service_name, action),
          .cancel_service = name_by(&rcl_action_get_cancel_service_name, action),
          .result_service = name_by(&rcl_action_get_result_service_name, action),
          .feedback_topic = name_by(&rcl_action_get_feedback_topic_name, action),
          .status_topic = name_by(&rcl_action_get_status_topic_name, action)};
}

GoalUUID make_goal_uuid() {
  GoalUUID id{};
  if (getrandom(id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
    realtime::throw_errno("naming a goal: getrandom");
  }
  // RFC 9562: version 4, random.
  id[6] = static_cast<std::uint8_t>((id[6] & 0x0F) | 0x40);
  id[8] = static_cast<std::uint8_t>((id[8] & 0x3F) | 0x80);
  return id;
}

}  // namespace rclrt::detail
