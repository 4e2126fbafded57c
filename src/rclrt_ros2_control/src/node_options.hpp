// SPDX-License-Identifier: Apache-2.0
// Makes a controller manager's node options from a command line.
#pragma once

#include <controller_manager/controller_manager.hpp>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <vector>

namespace rclrt_ros2_control {

inline constexpr const char* kManagerName = "controller_manager";

/// Returns the options of the manager's node, with the ROS arguments of the command line. The
/// manager passes these on to the nodes of its controllers.
inline rclcpp::NodeOptions node_options(int argc, char** argv) {
  rclcpp::NodeOptions options = controller_manager::get_cm_node_options();
  std::vector<std::string> arguments = options.arguments();
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!arguments.empty() || argument == "--ros-args") {
      arguments.push_back(argument);
    }
  }
  return options.arguments(arguments);
}

}  // namespace rclrt_ros2_control
