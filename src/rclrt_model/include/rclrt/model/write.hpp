// SPDX-License-Identifier: Apache-2.0
// The inverse of parse.hpp.
#pragma once

#include <string>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// Returns the application as an app.yaml: parse_application() of it returns an equal application,
/// if the text can be parsed. Exact to the nanosecond; default values are left out. May be called
/// from several threads.
RCLRT_MODEL_EXPORT std::string to_yaml(const Application& application);

}  // namespace rclrt::model
