// SPDX-License-Identifier: Apache-2.0
// Whether a value suits a parameter's description. Pure.
#pragma once

#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <string>

#include "rclrt/parameter_value.hpp"

namespace rclrt::detail {

/// Makes `value` one of the parameter's type; returns why it cannot be the parameter's value, or
/// nothing.
std::string why_refused(const rcl_interfaces::msg::ParameterDescriptor& descriptor,
                        ParameterValue& value);

/// Whether the description itself makes sense; returns why not, or nothing.
std::string why_not_described(const rcl_interfaces::msg::ParameterDescriptor& descriptor);

}  // namespace rclrt::detail
