// SPDX-License-Identifier: Apache-2.0
// Parameters from the command line: `-p name:=value`, `-p node:name:=value`, `--params-file`.
#pragma once

#include <rcl/arguments.h>

#include <map>
#include <string>
#include <string_view>

#include "rclrt/parameter_value.hpp"

namespace rclrt::detail {

/// Returns whether the name of a node in a parameter file (`pattern`) matches the fully qualified
/// name `node`. In the pattern, `*` is any one part of the name between slashes, `**` any number of
/// parts, also none. The leading slash may be missing.
bool node_name_matches(std::string_view pattern, std::string_view node);

/// Returns the parameters that the ROS arguments set for `node`. If a parameter is set several
/// times, the last value counts. Throws Error.
std::map<std::string, ParameterValue> parameter_overrides(const rcl_arguments_t& arguments,
                                                          const std::string& node);

}  // namespace rclrt::detail
