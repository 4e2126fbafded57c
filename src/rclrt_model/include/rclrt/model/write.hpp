// SPDX-License-Identifier: Apache-2.0
// The inverse of parse.hpp.
#pragma once

#include <string>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// Returns the application as the text of an app.yaml, exact to the nanosecond and without default
/// values. parse_application() of this text returns an equal application, or diagnostics if the
/// application is invalid. Thread-safe.
RCLRT_MODEL_EXPORT std::string to_yaml(const Application& application);

}  // namespace rclrt::model
