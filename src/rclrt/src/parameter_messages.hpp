// SPDX-License-Identifier: Apache-2.0
// Parameters as they go over the wire.
#pragma once

#include <rcl_interfaces/msg/parameter.hpp>
#include <rcl_interfaces/msg/parameter_value.hpp>

#include "rclrt/parameter_value.hpp"

namespace rclrt::detail {

rcl_interfaces::msg::ParameterValue to_message(const ParameterValue& value);
rcl_interfaces::msg::Parameter to_message(const ParameterChange& change);
/// A type that ROS does not know is no value.
ParameterValue from_message(const rcl_interfaces::msg::ParameterValue& message);

}  // namespace rclrt::detail
