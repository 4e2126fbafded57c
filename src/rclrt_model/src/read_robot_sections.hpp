// SPDX-License-Identifier: Apache-2.0
// The sections of a robot.yaml. Some of them can also be files of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/robot.hpp"
#include "rclrt/model/thread_plan.hpp"
#include "yaml.hpp"

namespace rclrt::model::detail {

/// Returns the keys of a robot.yaml.
std::vector<std::string_view> robot_keys();

/// Returns the keys of its section `executor`.
std::vector<std::string_view> robot_executor_keys();

/// Reads the sections of a robot.yaml.
Robot read_robot(const yaml::Fields& fields, Context& context);

/// Reads a fully qualified name of the ROS graph.
std::optional<std::string> read_ros_name(const YamlNode& node, std::string_view what,
                                         Context& context);

/// Reads the section `executor`.
RobotExecutor read_robot_executor(const YamlNode& node, Context& context);

/// Reads the list `callbacks`.
std::vector<NodeTiming> read_node_timings(const YamlNode& list, Context& context);

/// Reads the list `threads`.
std::vector<ThreadRule> read_thread_rules(const YamlNode& list, Context& context);

}  // namespace rclrt::model::detail
