// SPDX-License-Identifier: Apache-2.0
// The age of messages' data, split into the parts before the arrival.
#pragma once

#include <rmw/types.h>
#include <rosidl_runtime_c/message_type_support_struct.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <rclcpp/serialized_message.hpp>
#include <utility>

#include "entity_callback.hpp"
#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt_rclcpp/miss_details.hpp"

namespace rclrt_rclcpp {

namespace engine = rclrt::executor;

/// Finds `header.stamp` in the messages of one type. Immutable.
class StampReader {
 public:
  /// Finds the stamp in the description of a message type, and loads the library with that
  /// description. A type without a field `header` of type std_msgs/Header has no stamp. A type
  /// without a description has none either; the log then has a warning if the age of messages
  /// counts from it (`for_ages`).
  explicit StampReader(const rosidl_message_type_support_t& type, bool for_ages = true);

  bool has_header() const noexcept { return offset_.has_value(); }

  /// Returns the stamp in nanoseconds since 1970; 0: it is not set, or there is none.
  std::int64_t stamp_ns(const void* message) const noexcept;
  /// Returns the stamp of a message in plain CDR with the header as its first member; otherwise 0.
  std::int64_t stamp_ns(const rclcpp::SerializedMessage& message) const noexcept;

 private:
  std::optional<std::size_t> offset_;  // of the stamp
  bool is_first_ = false;              // the header, of the members
};

/// Finds the time from which the messages of a subscription count.
class MessageAge {
 public:
  MessageAge(const rosidl_message_type_support_t& type, Listener::AgeOptions options)
      : reader_(type), options_(std::move(options)) {}

  /// Returns whether the deadlines of instances count from there.
  bool is_limited() const noexcept { return options_.is_limited; }
  /// Returns whether stamps are noted with the ends of instances.
  bool is_noted() const noexcept { return options_.is_noted; }

  /// Returns the time from which the age of a message's data counts. Normally that is the message's
  /// stamp. If the type has no header, or the stamp is impossible (zero, more than a second in the
  /// future, older than a year), it is the origin that the publishing process shares; if it shares
  /// none, the publication. The message was taken just now for `instance`. With `is_limited` the
  /// deadline of the instance counts from the same time; if no time is known, from its arrival.
  /// `less_realtime_ns` is CLOCK_MONOTONIC - CLOCK_REALTIME.
  template <typename Message>
  Origin count_from_stamp(const Message& message, const rmw_message_info_t& info,
                          std::int64_t less_realtime_ns, const engine::Callback& callback,
                          engine::InstanceInfo& instance) noexcept {
    return count(reader_.stamp_ns(message), info, less_realtime_ns, callback, instance);
  }

  AgeCounters counters() const noexcept {
    // relaxed: two independent counts
    return {unstamped_.load(std::memory_order_relaxed),
            from_publication_.load(std::memory_order_relaxed)};
  }

  /// Returns the origin of the instance that the calling thread has just run; nullptr: unknown.
  static const MessageOrigin* origin_of(const engine::DeadlineMiss& miss) noexcept;

 private:
  Origin count(std::int64_t stamp_ns, const rmw_message_info_t& info, std::int64_t less_realtime_ns,
               const engine::Callback& callback, engine::InstanceInfo& instance) noexcept;

  const StampReader reader_;
  const Listener::AgeOptions options_;
  std::atomic<std::uint64_t> unstamped_{0};  // relaxed: statistics only
  std::atomic<std::uint64_t> from_publication_{0};
  LeastTime before_publication_;
  LeastTime in_middleware_;
};

}  // namespace rclrt_rclcpp
