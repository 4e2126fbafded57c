// SPDX-License-Identifier: Apache-2.0
// ros2_control's controller manager under rclrt: in the place of ros2_control_node.
//
//   ros2 run rclrt_ros2_control rclrt_ros2_control_node --ros-args --params-file controllers.yaml
//       -p robot:=robot.yaml
//
// The control loop is a callback of rclrt's executor, above everything else of the process, with
// its period as deadline. It takes the parameters of ros2_control_node, and `robot`.
#include <controller_manager/controller_manager.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "control_loop.hpp"
#include "node_options.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt_rclcpp/robot.hpp"

namespace {

using rclrt_ros2_control::ControlLoop;
using rclrt_ros2_control::kManagerName;

constexpr int kLoopPriority = 1'000'000;  // a robot.yaml may go higher
constexpr int kThreadPriority = 50;       // as ros2_control_node's

/// Returns what `robot` and the parameters of ros2_control_node state. Throws for what they cannot
/// state.
rclrt_rclcpp::RobotOptions read_robot(rclcpp::Node& node) {
  if (node.get_parameter_or("hardware_synchronization.expect_blocking_read_write", false)) {
    throw std::invalid_argument(
        "parameter hardware_synchronization.expect_blocking_read_write: hardware that sets the pace "
        "needs a thread of its own; use ros2_control_node");
  }
  const auto file = node.get_parameter_or<std::string>("robot", "");
  rclrt_rclcpp::RobotOptions robot =
      file.empty() ? rclrt_rclcpp::RobotOptions() : rclrt_rclcpp::load_robot(file);
  if (file.empty()) {
    // Services, parameters and what controllers subscribe to run beside the loop, as in
    // ros2_control_node; a robot.yaml raises those that a deadline depends on.
    robot.options.engine.best_effort_below = kLoopPriority;
  }
  const bool is_stated = node.has_parameter("thread_priority");
  if (is_stated || file.empty()) {
    const auto priority = node.get_parameter_or<std::int64_t>("thread_priority", kThreadPriority);
    if (priority < 1 || priority > 94) {
      throw std::invalid_argument("parameter thread_priority: " + std::to_string(priority) +
                                  "; expected 1 to 94");
    }
    // The engine's own thread is above its most urgent level.
    robot.options.engine.top_priority = static_cast<int>(priority) + 1;
  }
  return robot;
}

/// Tells of what is set for ros2_control_node's thread and has another place here.
void warn_of_settings(rclcpp::Node& node) {
  if (node.has_parameter("cpu_affinity")) {
    RCLCPP_WARN(node.get_logger(),
                "cpu_affinity has no effect here; fix: executor: {cpus: [...]} in robot.yaml");
  }
  if (!node.get_parameter_or("overruns.manage", true)) {
    RCLCPP_WARN(node.get_logger(),
                "overruns.manage: false has no effect: the loop skips the releases it is late for");
  }
}

int run(int argc, char** argv) {
  const rclcpp::NodeOptions options = rclrt_ros2_control::node_options(argc, argv);
  rclrt_rclcpp::RobotOptions robot_options;
  {
    // Asks for the parameters before the manager, whose constructor needs the executor.
    rclcpp::NodeOptions quiet = options;
    quiet.start_parameter_services(false).start_parameter_event_publisher(false);
    rclcpp::Node node(kManagerName, quiet.enable_rosout(false));
    robot_options = read_robot(node);
    warn_of_settings(node);
  }
  rclrt_rclcpp::Robot robot(std::move(robot_options));
  const auto manager = std::make_shared<controller_manager::ControllerManager>(
      robot.shared_executor(), kManagerName, "", options);
  const bool is_realtime = robot.executor().engine().options().realtime !=
                           rclrt::executor::Realtime::kOff;
  if (manager->get_parameter_or("lock_memory", is_realtime)) {
    if (const auto reason = rclrt::realtime::lock_memory()) {
      RCLCPP_WARN(manager->get_logger(), "%s", reason->c_str());
    }
  }
  const ControlLoop loop(manager);
  robot.executor().set_timing(loop.timer(),
                              {.priority = kLoopPriority, .deadline = loop.period()});
  robot.executor().add_node(manager);
  for (const std::string& each : robot.executor().unmatched()) {
    RCLCPP_INFO(manager->get_logger(), "not here yet: %s", each.c_str());
  }
  robot.spin();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  int exit_code = 2;
  try {
    exit_code = run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_ros2_control_node: %s\n", error.what());
  }
  rclcpp::shutdown();
  return exit_code;
}
