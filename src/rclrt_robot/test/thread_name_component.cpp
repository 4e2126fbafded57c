// SPDX-License-Identifier: Apache-2.0
// A component that reports which thread runs it: the level is part of the thread's name.
#include <pthread.h>

#include <array>
#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <std_msgs/msg/string.hpp>

namespace rclrt_robot::test {

class ThreadName : public rclcpp::Node {
 public:
  explicit ThreadName(const rclcpp::NodeOptions& options) : Node("thread_name", options) {
    publisher_ = create_publisher<std_msgs::msg::String>("thread_name", 10);
    timer_ = create_wall_timer(std::chrono::milliseconds(10), [this] {
      std::array<char, 16> name{};
      pthread_getname_np(pthread_self(), name.data(), name.size());
      std_msgs::msg::String message;
      message.data = name.data();
      publisher_->publish(message);
      if (!late_) {  // like a node that makes its timers when it is activated
        late_ = create_wall_timer(std::chrono::hours(1), [] {});
      }
    });
  }

 private:
  rclcpp::Publisher<std_msgs::msg::String>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::TimerBase::SharedPtr late_;
};

}  // namespace rclrt_robot::test

RCLCPP_COMPONENTS_REGISTER_NODE(rclrt_robot::test::ThreadName)
