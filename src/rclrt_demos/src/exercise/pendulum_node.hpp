// SPDX-License-Identifier: Apache-2.0
// The pendulum in ROS: topics with its position, services that command it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <rclrt/node.hpp>
#include <sensor_msgs/msg/joint_state.hpp>

#include "exercise/shared_data.hpp"

namespace rclrt::demos {

/// The data that the ROS node and the control loop share.
struct PendulumData {
  DesiredPosition& desired;
  SharedPidConstants& constants;
  SampleQueue& samples;
  std::atomic<bool> reset{false};
};

/// Publishes every state of the pendulum on /joint_states_full and one per 10 ms on /joint_states.
/// Offers the services /reset_pendulum, /set_desired_position and /set_PID_constants.
class PendulumNode {
 public:
  /// Makes the node; `data` must outlive it.
  PendulumNode(const std::shared_ptr<Context>& context, PendulumData& data);

  const Node& node() const noexcept { return node_; }

 private:
  using JointState = sensor_msgs::msg::JointState;

  void publish_samples();
  void create_services();

  PendulumData& data_;
  Node node_;
  const std::shared_ptr<Publisher<JointState>> full_;
  const std::shared_ptr<Publisher<JointState>> decimated_;
  JointState message_;
  std::int64_t last_decimated_ns_ = 0;
};

}  // namespace rclrt::demos
