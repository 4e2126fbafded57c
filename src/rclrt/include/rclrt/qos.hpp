// SPDX-License-Identifier: Apache-2.0
// Quality of service.
#pragma once

#include <rmw/qos_profiles.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "rclrt/realtime/duration.hpp"

namespace rclrt {

/// Quality of service: ROS's default profile (reliable, volatile, keep last) with a depth. The
/// depth is also the number of instances that may wait for their callback. Functions that set a
/// duration throw std::invalid_argument if it is negative.
class QoS {
 public:
  // Implicit on purpose, as in rclcpp: create_publisher<T>("topic", 10).
  /// Keeps the last `depth` messages; reliable and volatile, as rclcpp.
  QoS(std::size_t depth) { profile_.depth = depth; }  // NOLINT(google-explicit-constructor)

  QoS& reliable() {
    profile_.reliability = RMW_QOS_POLICY_RELIABILITY_RELIABLE;
    return *this;
  }
  QoS& best_effort() {
    profile_.reliability = RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT;
    return *this;
  }
  QoS& transient_local() {
    profile_.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
    return *this;
  }
  QoS& durability_volatile() {
    profile_.durability = RMW_QOS_POLICY_DURABILITY_VOLATILE;
    return *this;
  }

  /// Sets the longest time between two messages, offered or requested. See QosEventBase.
  QoS& deadline(realtime::SaturatingNanoseconds period) {
    profile_.deadline = to_rmw(period);
    return *this;
  }
  /// Sets the age beyond which messages are not delivered.
  QoS& lifespan(realtime::SaturatingNanoseconds age) {
    profile_.lifespan = to_rmw(age);
    return *this;
  }
  /// Makes the publisher count as alive for `lease` after each sign of life of its process.
  QoS& liveliness_automatic(realtime::SaturatingNanoseconds lease) {
    profile_.liveliness = RMW_QOS_POLICY_LIVELINESS_AUTOMATIC;
    profile_.liveliness_lease_duration = to_rmw(lease);
    return *this;
  }
  /// Makes the publisher count as alive for `lease` after each message or `assert_liveliness`.
  QoS& liveliness_by_topic(realtime::SaturatingNanoseconds lease) {
    profile_.liveliness = RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC;
    profile_.liveliness_lease_duration = to_rmw(lease);
    return *this;
  }

  std::size_t depth() const noexcept { return profile_.depth; }
  const rmw_qos_profile_t& rmw() const noexcept { return profile_; }

 private:
  static rmw_time_t to_rmw(std::chrono::nanoseconds time) {
    if (time.count() < 0) {
      throw std::invalid_argument("QoS: a deadline, lifespan or lease must not be negative");
    }
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return {static_cast<std::uint64_t>(seconds.count()),
            static_cast<std::uint64_t>((time - seconds).count())};
  }

  rmw_qos_profile_t profile_ = rmw_qos_profile_default;
};

}  // namespace rclrt
