// SPDX-License-Identifier: Apache-2.0
// Conversion of parameters to and from messages.
#pragma once

#include <rcl_interfaces/msg/parameter.hpp>
#include <rcl_interfaces/msg/parameter_value.hpp>

#include "rclrt/parameter_value.hpp"

namespace rclrt::detail {

rcl_interfaces::msg::ParameterValue to_message(const ParameterValue& value);
rcl_interfaces::msg::Parameter to_message(const ParameterChange& change);
/// Returns the value; none for a type that ROS does not know.
ParameterValue from_message(const rcl_interfaces::msg::ParameterValue& message);

}  // namespace rclrt::detail
