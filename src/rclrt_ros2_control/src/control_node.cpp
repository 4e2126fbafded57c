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
#include <realtime_tools/realtime_helpers.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "control_loop.hpp"
#include "node_options.hpp"
#include "rclrt/realtime/process.hpp"
#include "rclrt_rclcpp/robot.hpp"

namespace {

using controller_manager::ControllerManager;
using rclrt_ros2_control::ControlLoop;
using rclrt_ros2_control::kManagerName;

constexpr int kLoopPriority = 1'000'000;  // a robot.yaml may go higher
constexpr int kThreadPriority = 50;       // as ros2_control_node's

/// Returns what the parameter `robot` states. Without it everything but the loop is best effort, as
/// in ros2_control_node: services, parameters and what controllers subscribe to.
rclrt_rclcpp::RobotOptions load_robot(const std::string& file) {
  if (file.empty()) {
    rclrt_rclcpp::RobotOptions robot;
    robot.options.engine.best_effort_below = kLoopPriority;
    return robot;
  }
  return rclrt_rclcpp::load_robot(file);
}

/// Returns what `robot` and the parameters of ros2_control_node state. Throws for what they cannot
/// state.
rclrt_rclcpp::RobotOptions read_robot(rclcpp::Node& node) {
  if (node.get_parameter_or("hardware_synchronization.expect_blocking_read_write", false)) {
    throw std::invalid_argument(
        "parameter hardware_synchronization.expect_blocking_read_write: hardware that sets the "
        "pace "
        "needs a thread of its own; use ros2_control_node");
  }
  const auto file = node.get_parameter_or<std::string>("robot", "");
  rclrt_rclcpp::RobotOptions robot = load_robot(file);
  if (robot.executor == "preemptive") {
    // Without permission for real time, too, no service holds the loop up until its end.
    robot.options.engine.preemption = rclrt::executor::Preemption::kAlways;
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

rclrt_rclcpp::RobotOptions ask_for_robot(rclcpp::NodeOptions options) {
  options.start_parameter_services(false).start_parameter_event_publisher(false);
  rclcpp::Node node(kManagerName, options.enable_rosout(false));
  warn_of_settings(node);
  return read_robot(node);
}

/// Locks the memory before there is a loop, whose first releases would be late for it.
std::shared_ptr<ControllerManager> make_manager(const rclcpp::NodeOptions& options,
                                                std::shared_ptr<rclcpp::Executor> executor) {
  auto manager =
      std::make_shared<ControllerManager>(std::move(executor), kManagerName, "", options);
  if (manager->get_parameter_or("lock_memory", realtime_tools::has_realtime_kernel())) {
    if (const auto reason = rclrt::realtime::lock_memory()) {
      RCLCPP_WARN(manager->get_logger(), "%s", reason->c_str());
    }
  }
  return manager;
}

/// The manager, its loop and the executor that runs both.
class ControlProcess {
 public:
  /// Throws what `read_robot` does, and for what an executor refuses.
  explicit ControlProcess(const rclcpp::NodeOptions& options)
      : robot_(ask_for_robot(options)),  // the manager's constructor needs the executor
        manager_(make_manager(options, robot_.shared_executor())),
        loop_(manager_) {
    robot_.executor().set_timing(loop_.timer(),
                                 {.priority = kLoopPriority, .deadline = loop_.period()});
    robot_.executor().add_node(manager_);
  }

  /// Returns when the context has been shut down. Throws what a callback throws.
  void spin() { robot_.spin(); }

 private:
  rclrt_rclcpp::Robot robot_;  // outlives what uses its executor
  const std::shared_ptr<ControllerManager> manager_;
  const ControlLoop loop_;
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  int exit_code = 2;  // of what is stated
  try {
    ControlProcess process(rclrt_ros2_control::node_options(argc, argv));
    exit_code = 1;  // of what happens
    process.spin();
    rclcpp::shutdown();  // waits until the manager has done what it does at the end, before it goes
    exit_code = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rclrt_ros2_control_node: %s\n", error.what());
  }
  rclcpp::shutdown();
  return exit_code;
}
