// SPDX-License-Identifier: Apache-2.0
// The inverse of parse.hpp.
#pragma once

#include <string>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::model {

/// Returns an app.yaml: parse_application() of it is this application again, if that can be parsed
/// at all. Exact to the nanosecond; what is at its default is left out. May be called from several
/// threads.
RCLRT_MODEL_EXPORT std::string to_yaml(const Application& application);

}  // namespace rclrt::model
