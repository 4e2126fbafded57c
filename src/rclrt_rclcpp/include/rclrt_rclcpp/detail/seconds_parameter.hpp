// SPDX-License-Identifier: Apache-2.0
// A parameter that is a time, for the command lines of the examples of this package and of
// rclrt_robot.
#pragma once

#include <chrono>
#include <rclcpp/rclcpp.hpp>
#include <stdexcept>
#include <string>

namespace rclrt_rclcpp::detail {

/// Declares a parameter of the node with a duration in seconds, and returns its value. An integer
/// is accepted, too, because users type `duration:=1`. Throws std::invalid_argument with the
/// parameter's name for values that are not from 1 us to 1e6 s.
inline std::chrono::duration<double> declare_seconds(rclcpp::Node& node, const std::string& name,
                                                     double standard) {
  rcl_interfaces::msg::ParameterDescriptor descriptor;
  descriptor.dynamic_typing = true;  // or rclcpp itself refuses the integer
  descriptor.read_only = true;
  const auto value = node.declare_parameter(name, rclcpp::ParameterValue(standard), descriptor);
  double seconds = 0;
  if (value.get_type() == rclcpp::ParameterType::PARAMETER_INTEGER) {
    seconds = static_cast<double>(value.get<std::int64_t>());
  } else if (value.get_type() == rclcpp::ParameterType::PARAMETER_DOUBLE) {
    seconds = value.get<double>();
  }
  if (!(seconds >= 1e-6 && seconds <= 1e6)) {  // also true for a NaN
    throw std::invalid_argument("parameter " + name + " is " + rclcpp::to_string(value) +
                                "; expected seconds from 1e-6 to 1e6");
  }
  return std::chrono::duration<double>(seconds);
}

}  // namespace rclrt_rclcpp::detail
