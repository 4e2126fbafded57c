// SPDX-License-Identifier: Apache-2.0
// The pieces of code in this package's README, so that they compile. readme_test.py compares them.
#include <chrono>
#include <cstdint>
#include <geometry_msgs/msg/twist_stamped.hpp>
#include <memory>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <test_msgs/action/fibonacci.hpp>
#include <utility>
#include <vector>

#include "rclrt/rclrt.hpp"

namespace rclrt::test {

using geometry_msgs::msg::TwistStamped;
using sensor_msgs::msg::LaserScan;
using test_msgs::action::Fibonacci;
using namespace std::chrono_literals;

void control(double gain);
void show(const std::vector<std::int32_t>& numbers);
double nearest(const std::vector<float>& ranges);
TwistStamped steer(double distance, std::int64_t age_ns);
void slow_down(int missed);
void stop();
void parameters(Node& node);
void actions(Node& node, std::vector<std::shared_ptr<ServerGoalHandle<Fibonacci>>>& work);
void events(Node& node);
void sampling(Node& node);

void parameters(Node& node) {
  const auto gain = node.declare_parameter(
      "gain", 1.5, {.description = "of the controller", .range = {{0.0, 10.0}}});
  node.create_wall_timer(1ms, [gain] { control(gain.get()); });
}

void sampling(Node& node) {
  const auto commands = node.create_publisher<TwistStamped>("command", 1);
  const auto obstacle = create_sampled_subscription<LaserScan>(
      node, "scan", 1, [](const LaserScan& scan) { return nearest(scan.ranges); });
  create_sampling_timer(node, 5ms, obstacle, [commands](const Sample<double>& distance) {
    TwistStamped command = steer(distance.value, distance.age_ns());
    command.header.stamp = stamp_of(distance.origin);
    commands->publish(command);
  });
}

void actions(Node& node, std::vector<std::shared_ptr<ServerGoalHandle<Fibonacci>>>& work) {
  const auto server = create_action_server<Fibonacci>(
      node, "fibonacci",
      {.handle_goal =
           [](const GoalUUID&, const Fibonacci::Goal& goal) {
             return goal.order > 0 ? GoalResponse::kAcceptAndExecute : GoalResponse::kReject;
           },
       .handle_cancel = [](const auto&) { return CancelResponse::kAccept; },
       .handle_accepted = [&](auto goal) { work.push_back(std::move(goal)); }},
      {.priority = 3});

  const auto client = create_action_client<Fibonacci>(node, "fibonacci", {.priority = 2});
  Fibonacci::Goal goal;
  goal.order = 5;
  client->async_send_goal(
      goal,
      {.feedback_callback = [](const auto&, const auto& feedback) { show(feedback.sequence); },
       .result_callback = [](const auto& ended) { show(ended.result.sequence); }});
}

void events(Node& node) {
  const auto scan =
      node.create_subscription<LaserScan>("scan", QoS(5).deadline(100ms), [](const LaserScan&) {});
  create_qos_event<RequestedDeadlineMissed>(
      node, scan, [](const auto& missed) { slow_down(missed.total_count_change); },
      {.priority = 9});
  create_graph_callback(node, [&] {
    if (node.count_publishers("scan") == 0) {
      stop();
    }
  });
}

}  // namespace rclrt::test
