// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rmw/qos_profiles.h>

#include <cstddef>

namespace rclrt {

/// Quality of service: ROS's default profile (reliable, volatile, keep last) with a depth. The
/// depth is also the number of instances that may wait for their callback.
class QoS {
 public:
  // Implicit on purpose, as in rclcpp: create_publisher<T>("topic", 10).
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

  std::size_t depth() const noexcept { return profile_.depth; }
  const rmw_qos_profile_t& rmw() const noexcept { return profile_; }

 private:
  rmw_qos_profile_t profile_ = rmw_qos_profile_default;
};

}  // namespace rclrt
