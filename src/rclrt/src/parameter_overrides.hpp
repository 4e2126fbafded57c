// SPDX-License-Identifier: Apache-2.0
// Parameters from the command line: `-p name:=value`, `-p node:name:=value`, `--params-file`.
#pragma once

#include <rcl/arguments.h>

#include <map>
#include <string>
#include <string_view>

#include "rclrt/parameter_value.hpp"

namespace rclrt::detail {

/// Returns whether a node's name in a parameter file matches `node` (fully qualified). `*` is any
/// one token, `**` any number of tokens, also none; the leading slash may be missing.
bool node_name_matches(std::string_view pattern, std::string_view node);

/// Returns the parameters that the arguments set for `node`. If several entries set one, the last
/// one counts. Throws Error.
std::map<std::string, ParameterValue> parameter_overrides(const rcl_arguments_t& arguments,
                                                          const std::string& node);

}  // namespace rclrt::detail
