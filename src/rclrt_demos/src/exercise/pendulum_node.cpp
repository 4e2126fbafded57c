// SPDX-License-Identifier: Apache-2.0
#include "exercise/pendulum_node.hpp"

#include <chrono>
#include <cmath>
#include <numbers>
#include <rclrt_msgs/srv/set_desired_position.hpp>
#include <rclrt_msgs/srv/set_pid_constants.hpp>
#include <std_srvs/srv/empty.hpp>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::demos {

namespace {
using namespace std::chrono_literals;

constexpr std::int64_t kDecimatedPeriod_ns = 10'000'000;
}  // namespace

PendulumNode::PendulumNode(const std::shared_ptr<Context>& context, PendulumData& data)
    : data_(data),
      node_(context, "pendulum"),
      full_(node_.create_publisher<JointState>("/joint_states_full", 10)),
      decimated_(node_.create_publisher<JointState>("/joint_states", 10)) {
  message_.name = {"joint_1"};
  message_.position = {0};
  node_.create_wall_timer(10ms, [this] { publish_samples(); });
  create_services();
}

void PendulumNode::publish_samples() {
  Sample sample;
  while (data_.samples.pop(sample)) {
    const auto& stamp_ns = sample.stamp_ns;
    message_.header.stamp.sec =
        static_cast<std::int32_t>(stamp_ns / realtime::kNanosecondsPerSecond);
    message_.header.stamp.nanosec =
        static_cast<std::uint32_t>(stamp_ns % realtime::kNanosecondsPerSecond);
    message_.position[0] = sample.position;
    full_->publish(message_);
    if (stamp_ns - last_decimated_ns_ >= kDecimatedPeriod_ns) {
      decimated_->publish(message_);
      last_decimated_ns_ = stamp_ns;
    }
  }
}

void PendulumNode::create_services() {
  using rclrt_msgs::srv::SetDesiredPosition;
  using rclrt_msgs::srv::SetPidConstants;
  using std_srvs::srv::Empty;
  node_.create_service<Empty>("/reset_pendulum", [this](const Empty::Request&, Empty::Response&) {
    data_.reset.store(true);
  });
  node_.create_service<SetDesiredPosition>(
      "/set_desired_position",
      [this](const SetDesiredPosition::Request& request, SetDesiredPosition::Response& response) {
        response.success = std::abs(request.desired_position) < std::numbers::pi / 2;
        if (response.success) {
          data_.desired.set(request.desired_position);
        } else {
          response.message = "the pendulum cannot be at " +
                             std::to_string(request.desired_position) +
                             "; expected radians between -pi/2 and pi/2";
        }
      });
  node_.create_service<SetPidConstants>(
      "/set_PID_constants",
      [this](const SetPidConstants::Request& request, SetPidConstants::Response& response) {
        response.success =
            std::isfinite(request.kp) && std::isfinite(request.ki) && std::isfinite(request.kd);
        if (response.success) {
          data_.constants.set({request.kp, request.ki, request.kd});
        } else {
          response.message = "kp, ki or kd is not a number; expected finite ones";
        }
      });
}

}  // namespace rclrt::demos
