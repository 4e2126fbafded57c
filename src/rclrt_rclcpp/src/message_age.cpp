// SPDX-License-Identifier: Apache-2.0
#include "message_age.hpp"

#include <rcutils/error_handling.h>

#include <cstring>
#include <mutex>
#include <rclcpp/logging.hpp>
#include <rosidl_typesupport_introspection_cpp/field_types.hpp>
#include <rosidl_typesupport_introspection_cpp/identifier.hpp>
#include <rosidl_typesupport_introspection_cpp/message_introspection.hpp>
#include <span>
#include <string_view>

#include "rclrt/executor/callback.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/stamp.hpp"
#include "rclrt_rclcpp/origins.hpp"

namespace rclrt_rclcpp {

namespace {

using rosidl_typesupport_introspection_cpp::MessageMember;
using rosidl_typesupport_introspection_cpp::MessageMembers;

const MessageMembers* members_of(const rosidl_message_type_support_t* type) {
  const rosidl_message_type_support_t* const description = get_message_typesupport_handle(
      type, rosidl_typesupport_introspection_cpp::typesupport_identifier);
  if (description == nullptr) {
    rcutils_reset_error();
    return nullptr;
  }
  return static_cast<const MessageMembers*>(description->data);
}

const MessageMember* find_member(const MessageMembers& members, std::string_view name,
                                 std::string_view package, std::string_view type) {
  for (const MessageMember& each : std::span(members.members_, members.member_count_)) {
    if (each.name_ == name && !each.is_array_ &&
        each.type_id_ == rosidl_typesupport_introspection_cpp::ROS_TYPE_MESSAGE) {
      const MessageMembers* const of = members_of(each.members_);
      const bool fits =
          of != nullptr && of->message_namespace_ == package && of->message_name_ == type;
      return fits ? &each : nullptr;
    }
  }
  return nullptr;
}

constexpr std::int64_t to_ns(std::int32_t seconds, std::uint32_t nanoseconds) {
  return std::int64_t{seconds} * 1'000'000'000 + nanoseconds;
}

/// The last message that the calling thread has taken, and the instance that took it. The instance
/// is compared, because a callback may spin another executor on the same thread.
struct Taken {
  const engine::Callback* callback = nullptr;
  std::uint64_t instance = 0;
  MessageOrigin origin;
};
thread_local Taken t_taken;

}  // namespace

StampReader::StampReader(const rosidl_message_type_support_t& type, bool for_ages) {
  // rosidl caches loaded type descriptions without a lock.
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  const MessageMembers* const members = members_of(&type);
  if (members == nullptr && !for_ages) {
    return;
  }
  if (members == nullptr) {
    RCLCPP_WARN(rclcpp::get_logger("rclrt"),
                "the description of a message type is not found, so the age of its messages counts "
                "from their publication; install the library of its package: "
                "PACKAGE__rosidl_typesupport_introspection_cpp");
    return;
  }
  const MessageMember* const header = find_member(*members, "header", "std_msgs::msg", "Header");
  if (header == nullptr) {
    return;
  }
  const MessageMember* const stamp =
      find_member(*members_of(header->members_), "stamp", "builtin_interfaces::msg", "Time");
  if (stamp != nullptr) {
    offset_ = header->offset_ + stamp->offset_;
    is_first_ = header == members->members_;
  }
}

std::int64_t StampReader::stamp_ns(const void* message) const noexcept {
  if (!offset_) {
    return 0;
  }
  struct {
    std::int32_t sec;
    std::uint32_t nanosec;
  } time;  // as builtin_interfaces::msg::Time
  std::memcpy(&time, static_cast<const std::byte*>(message) + *offset_, sizeof(time));
  return to_ns(time.sec, time.nanosec);
}

std::int64_t StampReader::stamp_ns(const rclcpp::SerializedMessage& message) const noexcept {
  // The encapsulation header: a representation identifier and options. Each member has four bytes.
  constexpr std::size_t kHead = 4;
  const rcl_serialized_message_t& bytes = message.get_rcl_serialized_message();
  if (!is_first_ || bytes.buffer_length < kHead + 8 || bytes.buffer[0] != 0 ||
      bytes.buffer[1] > 1) {
    return 0;  // another type, or not plain CDR
  }
  const bool is_little_endian = bytes.buffer[1] == 1;
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | bytes.buffer[at + (is_little_endian ? 3 - i : i)];
    }
    return value;
  };
  return to_ns(static_cast<std::int32_t>(word(kHead)), word(kHead + 4));
}

Origin MessageAge::count(std::int64_t stamp_ns, const rmw_message_info_t& info,
                         std::int64_t less_realtime_ns, const engine::Callback& callback,
                         engine::InstanceInfo& instance) noexcept {
  if (options_.is_noted) {
    Listener::stamp_here() = stamp_ns;
  }
  const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
  const auto before_now = [&](std::int64_t realtime_ns) {
    return rclrt::realtime::stamp_to_monotonic_ns(realtime_ns, less_realtime_ns, now_ns);
  };
  const auto published_ns = before_now(info.source_timestamp);
  const auto received_ns = before_now(info.received_timestamp);
  MessageOrigin way;
  std::copy_n(info.publisher_gid.data, way.publisher.size(), way.publisher.begin());
  const auto stamped_ns = before_now(stamp_ns);
  // Origins that other processes share are from their clocks: the result is at least 1.
  const auto since = [](std::int64_t time_ns) { return std::max<std::int64_t>(time_ns, 1); };
  Origin origin;
  if (stamped_ns) {
    origin = {since(*stamped_ns), true};
  } else if (options_.origins) {
    origin = options_.origins->find(way.publisher, info.source_timestamp, now_ns);
  }
  const bool is_known = origin.since_ns != 0;
  if (!is_known && published_ns) {
    origin = {since(*published_ns), false};
  }
  if (!options_.is_limited) {
    return origin;
  }
  // relaxed: statistics only
  if (!stamped_ns && reader_.has_header()) {
    unstamped_.fetch_add(1, std::memory_order_relaxed);
  } else if (!origin.is_whole) {
    from_publication_.fetch_add(1, std::memory_order_relaxed);
  }
  if (received_ns) {  // of this message; the instance may have been announced by another one
    instance.ready_ns = *received_ns;
    instance.release_ns = *received_ns;
  }
  instance.since_ns = stamped_ns             ? *stamped_ns
                      : origin.since_ns != 0 ? origin.since_ns
                                             : instance.ready_ns;
  if (is_known && published_ns) {
    way.before_publication =
        before_publication_.note(std::max<std::int64_t>(*published_ns - instance.since_ns, 0));
  }
  if (published_ns && received_ns) {
    way.in_middleware =
        in_middleware_.note(std::max<std::int64_t>(*received_ns - *published_ns, 0));
  }
  t_taken = {.callback = &callback, .instance = instance.id, .origin = way};
  return origin;
}

const MessageOrigin* MessageAge::origin_of(const engine::DeadlineMiss& miss) noexcept {
  const bool is_its = t_taken.callback == miss.callback && t_taken.instance == miss.info.id;
  return is_its ? &t_taken.origin : nullptr;
}

}  // namespace rclrt_rclcpp
