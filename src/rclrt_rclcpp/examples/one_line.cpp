// SPDX-License-Identifier: Apache-2.0
// The one line that changes: the executor. The node needs no change.
#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/int64.hpp>

#include "rclrt_rclcpp/executors.hpp"

class Control : public rclcpp::Node {
 public:
  Control() : Node("control") {
    publisher_ = create_publisher<std_msgs::msg::Int64>("command", 10);
    subscription_ = create_subscription<std_msgs::msg::Int64>(
        "state", 10, [this](const std_msgs::msg::Int64& state) { publisher_->publish(state); });
    timer_ = create_wall_timer(std::chrono::milliseconds(100), [] { /* housekeeping */ });
  }

 private:
  rclcpp::Publisher<std_msgs::msg::Int64>::SharedPtr publisher_;
  rclcpp::Subscription<std_msgs::msg::Int64>::SharedPtr subscription_;
  rclcpp::TimerBase::SharedPtr timer_;
};

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const auto node = std::make_shared<Control>();
  rclrt_rclcpp::PreemptiveExecutor executor;  // was: rclcpp::executors::SingleThreadedExecutor
  executor.add_node(node);
  executor.spin();  // until Ctrl-C
  rclcpp::shutdown();
}
