// SPDX-License-Identifier: Apache-2.0
// Publishes numbers until five of them have arrived. A number that is published before discovery of
// the subscription does not arrive.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <rclrt/rclrt.hpp>
#include <std_msgs/msg/int64.hpp>

int main(int argc, char** argv) {
  const auto context = rclrt::Context::make(argc, argv);
  rclrt::Node node(context, "counter");
  const auto publisher = node.create_publisher<std_msgs::msg::Int64>("numbers", 10);
  std_msgs::msg::Int64 next;
  std::int64_t last = 0;
  int received = 0;
  bool in_order = true;
  node.create_subscription<std_msgs::msg::Int64>("numbers", 10,
                                                 [&](const std_msgs::msg::Int64& number) {
                                                   in_order = in_order && number.data > last;
                                                   last = number.data;
                                                   if (++received == 5) {
                                                     context->shutdown();
                                                   }
                                                 },
                                                 {.priority = 2});
  node.create_wall_timer(std::chrono::milliseconds(10),
                         [&] {
                           ++next.data;
                           publisher->publish(next);
                         },
                         {.priority = 1});
  rclrt::PreemptiveExecutor executor(context);
  executor.add_node(node);
  executor.spin();
  std::printf("received %s, %s\n", received >= 5 ? "five" : "too few",
              in_order ? "in order" : "out of order");
}
