// SPDX-License-Identifier: Apache-2.0
// The rclrt side of interop_test.py: sends every message it receives on X back on X_echo, serves
// "negate", asks the service "rclpy_negate" for each message on "ask", and has parameters.
#include <cstdio>
#include <exception>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <std_msgs/msg/bool.hpp>
#include <std_msgs/msg/header.hpp>
#include <std_msgs/msg/string.hpp>
#include <std_srvs/srv/set_bool.hpp>

#include "rclrt/rclrt.hpp"

namespace {

template <typename T>
void echo(rclrt::Node& node, const std::string& topic, int priority) {
  auto publisher = node.create_publisher<T>(topic + "_echo", 10);
  node.create_subscription<T>(topic, 10,
                              [publisher](const T& message) { publisher->publish(message); },
                              {.priority = priority});
}

using std_srvs::srv::SetBool;

void serve(rclrt::Node& node) {
  node.create_service<SetBool>("negate",
                               [](const SetBool::Request& request, SetBool::Response& response) {
                                 response.success = !request.data;
                                 response.message = "served by rclrt";
                               });
}

void ask(rclrt::Node& node) {
  auto client = node.create_client<SetBool>("rclpy_negate", 10, {.priority = 7});
  auto answers = node.create_publisher<std_msgs::msg::String>("answer", 10);
  node.create_subscription<std_msgs::msg::Bool>(
      "ask", 10, [client, answers](const std_msgs::msg::Bool& question) {
        SetBool::Request request;
        request.data = question.data;
        client->async_send_request(request, [answers](const SetBool::Response& response) {
          std_msgs::msg::String answer;
          answer.data = (response.success ? "true: " : "false: ") + response.message;
          answers->publish(answer);
        });
      });
}

void declare(rclrt::Node& node) {
  node.declare_parameter("frame", "map", {.read_only = true});
  node.declare_parameter("gain", 1.5, {.description = "of the controller", .range = {{0.0, 10.0}}});
  node.declare_parameter("limits.max", 7);
  node.parameters().add_on_set_parameters_callback(
      [](const std::vector<rclrt::ParameterChange>& changes) {
        rclrt::SetParametersResult result;
        result.successful = true;
        for (const auto& change : changes) {
          if (change.value == rclrt::ParameterValue(std::int64_t{13})) {
            result.successful = false;
            result.reason = "unlucky";
          }
        }
        return result;
      });
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
    serve(node);
    ask(node);
    declare(node);
    const auto spinning = rclrt::make_executor(executor, context);
    spinning->add_node(node);
    spinning->spin();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
