// SPDX-License-Identifier: Apache-2.0
// The node in the project's README; readme_test.py keeps the two the same.
#include <rclrt/rclrt.hpp>
#include <std_msgs/msg/int64.hpp>

int main(int argc, char** argv) {
  const auto context = rclrt::Context::make(argc, argv);
  rclrt::Node node(context, "control");
  const auto publisher = node.create_publisher<std_msgs::msg::Int64>("command", 10);
  node.create_subscription<std_msgs::msg::Int64>(
      "state", 10, [&](const std_msgs::msg::Int64& state) { publisher->publish(state); },
      {.priority = 2});
  node.create_wall_timer(std::chrono::milliseconds(100), [] { /* housekeeping */ },
                         {.priority = 1});
  rclrt::PreemptiveExecutor executor(context);
  executor.add_node(node);
  executor.spin();  // until Ctrl-C
}
