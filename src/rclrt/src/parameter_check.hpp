// SPDX-License-Identifier: Apache-2.0
// Checks of values against a parameter's description. Pure.
#pragma once

#include <rcl_interfaces/msg/parameter_descriptor.hpp>
#include <string>

#include "rclrt/parameter_value.hpp"

namespace rclrt::detail {

/// Converts `value` to the parameter's type. Returns an empty text if it can be the parameter's
/// value, otherwise the reason why it cannot.
std::string why_refused(const rcl_interfaces::msg::ParameterDescriptor& descriptor,
                        ParameterValue& value);

/// Returns why the description itself is invalid, or an empty string.
std::string why_not_described(const rcl_interfaces::msg::ParameterDescriptor& descriptor);

}  // namespace rclrt::detail
