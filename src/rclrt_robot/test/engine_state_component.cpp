// SPDX-License-Identifier: Apache-2.0
// A component that reports what its own library sees of the engine that runs it. It is built into
// two libraries, with a class name (COMPONENT) in each.
#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <std_msgs/msg/string.hpp>
#include <string>

#include "rclrt/executor/instance.hpp"

namespace rclrt_robot::test {

class COMPONENT : public rclcpp::Node {
 public:
  explicit COMPONENT(const rclcpp::NodeOptions& options) : Node("engine_state", options) {
    publisher_ = create_publisher<std_msgs::msg::String>("engine_state", 10);
    timer_ = create_wall_timer(std::chrono::milliseconds(10), [this] {
      const rclrt::executor::InstanceInfo* const instance = rclrt::executor::current_instance();
      std_msgs::msg::String message;
      message.data =
          std::string(get_name()) +
          (instance == nullptr ? ": no instance" : ": level " + std::to_string(instance->level));
      publisher_->publish(message);
    });
  }

 private:
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace rclrt_robot::test

RCLCPP_COMPONENTS_REGISTER_NODE(rclrt_robot::test::COMPONENT)
