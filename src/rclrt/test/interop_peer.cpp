// SPDX-License-Identifier: Apache-2.0
// The rclrt side of interop_test.py: sends every message it receives on X back on X_echo.
#include <cstdio>
#include <exception>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <std_msgs/msg/header.hpp>
#include <std_msgs/msg/string.hpp>

#include "rclrt/rclrt.hpp"

namespace {

template <typename T>
void echo(rclrt::Node& node, const std::string& topic, int priority) {
  auto publisher = node.create_publisher<T>(topic + "_echo", 10);
  node.create_subscription<T>(topic, 10,
                              [publisher](const T& message) { publisher->publish(message); },
                              {.priority = priority});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto context = rclrt::Context::make(argc, argv);
    const std::string executor =
        context->arguments().empty() ? "preemptive" : context->arguments().front();
    rclrt::Node node(context, "rclrt_peer");
    echo<std_msgs::msg::String>(node, "string", 1);
    echo<std_msgs::msg::Header>(node, "header", 2);
    echo<sensor_msgs::msg::Imu>(node, "imu", 3);
    echo<sensor_msgs::msg::LaserScan>(node, "scan", 4);
    echo<sensor_msgs::msg::Image>(node, "image", 5);
    const auto spinning = rclrt::make_executor(executor, context);
    spinning->add_node(node);
    spinning->spin();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
