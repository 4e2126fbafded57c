// SPDX-License-Identifier: Apache-2.0
// The rclrt side of interop_test.py. It sends every message that it receives on X back on X_echo,
// serves "negate", calls the service "rclpy_negate" for each message on "ask", has parameters,
// offers the action "fibonacci", and sends a goal to "rclpy_fibonacci" for each message on "go".
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <std_msgs/msg/bool.hpp>
#include <std_msgs/msg/header.hpp>
#include <std_msgs/msg/int32.hpp>
#include <std_msgs/msg/string.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <string>
#include <test_msgs/action/fibonacci.hpp>
#include <utility>
#include <vector>

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

using test_msgs::action::Fibonacci;
using Goal = std::shared_ptr<rclrt::ServerGoalHandle<Fibonacci>>;

/// Adds one number to each goal's result; called by the timer.
void step(std::vector<Goal>& goals, std::map<Goal, Fibonacci::Result>& results) {
  std::erase_if(goals, [&](const Goal& goal) {
    Fibonacci::Result& result = results[goal];
    auto& sequence = result.sequence;
    if (goal->is_canceling()) {
      goal->canceled(result);
    } else if (sequence.size() > static_cast<std::size_t>(goal->goal().order)) {
      goal->succeed(result);
    } else {
      const std::size_t n = sequence.size();
      sequence.push_back(n < 2 ? static_cast<std::int32_t>(n) : sequence[n - 1] + sequence[n - 2]);
      Fibonacci::Feedback feedback;
      feedback.sequence = sequence;
      goal->publish_feedback(feedback);
      return false;
    }
    results.erase(goal);
    return true;
  });
}

void act(rclrt::Node& node) {
  auto group = node.create_callback_group();
  auto goals = std::make_shared<std::vector<Goal>>();  // guarded by the group
  create_action_server<Fibonacci>(
      node, "fibonacci",
      {.handle_goal =
           [](const rclrt::GoalUUID&, const Fibonacci::Goal& goal) {
             return goal.order < 0 ? rclrt::GoalResponse::kReject
                                   : rclrt::GoalResponse::kAcceptAndExecute;
           },
       .handle_cancel = [](const Goal&) { return rclrt::CancelResponse::kAccept; },
       .handle_accepted = [goals](Goal goal) { goals->push_back(std::move(goal)); }},
      {.priority = 8, .group = group});
  node.create_wall_timer(
      std::chrono::milliseconds(5),
      [goals, results = std::map<Goal, Fibonacci::Result>()]() mutable { step(*goals, results); },
      {.priority = 6, .group = group});
}

std::string text(const char* what, const std::vector<std::int32_t>& sequence) {
  std::string result = what;
  for (const std::int32_t number : sequence) {
    result += " " + std::to_string(number);
  }
  return result;
}

void send_goals(rclrt::Node& node) {
  auto client = create_action_client<Fibonacci>(node, "rclpy_fibonacci", {.priority = 9});
  auto answers = node.create_publisher<std_msgs::msg::String>("went", 10);
  const auto tell = [answers](const std::string& what) {
    std_msgs::msg::String message;
    message.data = what;
    answers->publish(message);
  };
  node.create_subscription<std_msgs::msg::Int32>(
      "go", 10, [client, tell](const std_msgs::msg::Int32& order) {
        Fibonacci::Goal goal;
        goal.order = order.data;
        client->async_send_goal(
            goal,
            {.goal_response_callback =
                 [tell](const auto& handle) { tell(handle ? "accepted" : "rejected"); },
             .feedback_callback =
                 [tell](const auto&, const auto& feedback) {
                   tell(text("feedback", feedback.sequence));
                 },
             .result_callback =
                 [tell](const auto& ended) {
                   tell(text(ended.status == rclrt::GoalStatus::kSucceeded ? "succeeded" : "ended",
                             ended.result.sequence));
                 }});
      });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto context = rclrt::Context::make(argc, argv);
    const std::string executor =
        context->arguments().empty() ? "preemptive" : context->arguments().front();
    if (executor == "--executors") {
      for (const std::string& name : rclrt::executor_names()) {
        std::puts(name.c_str());
      }
      return 0;
    }
    rclrt::Node node(context, "rclrt_peer");
    echo<std_msgs::msg::String>(node, "string", 1);
    echo<std_msgs::msg::Header>(node, "header", 2);
    echo<sensor_msgs::msg::Imu>(node, "imu", 3);
    echo<sensor_msgs::msg::LaserScan>(node, "scan", 4);
    echo<sensor_msgs::msg::Image>(node, "image", 5);
    serve(node);
    ask(node);
    declare(node);
    act(node);
    send_goals(node);
    const auto spinning = rclrt::make_executor(executor, context);
    spinning->add_node(node);
    spinning->spin();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
