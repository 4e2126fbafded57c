// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/sampling.hpp"

#include <stdexcept>

#include "entity_callback.hpp"

namespace rclrt_rclcpp {

Origin current_origin() noexcept RCLRT_NONBLOCKING { return Listener::origin_here(); }

void use_origin(Origin origin) noexcept RCLRT_NONBLOCKING { Listener::use_here(origin); }

namespace detail {

void require_exclusive(const rclcpp::CallbackGroup::SharedPtr& group, const std::string& what) {
  if (group && group->type() == rclcpp::CallbackGroupType::Reentrant) {
    throw std::invalid_argument(
        what +
        " is in a reentrant callback group, so it could run twice at once; a sampled value " +
        "has one writer and each reader one thread: use a mutually exclusive group, such as one of "
        "its own");
  }
}

Origin origin_of_taken(std::int64_t stamp_ns, const rclcpp::MessageInfo& info) noexcept {
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  const std::int64_t less_realtime_ns = rclrt::realtime::monotonic_less_realtime_ns();
  const auto monotonic = [&](std::int64_t time_ns) {
    return rclrt::realtime::stamp_to_monotonic_ns(time_ns, less_realtime_ns, now_ns);
  };
  if (const auto stamped_ns = monotonic(stamp_ns)) {
    return {*stamped_ns, true};
  }
  if (const Origin origin = current_origin(); origin.since_ns != 0) {
    return origin;
  }
  const auto published_ns = monotonic(info.get_rmw_message_info().source_timestamp);
  return {published_ns.value_or(now_ns), false};
}

}  // namespace detail

}  // namespace rclrt_rclcpp
