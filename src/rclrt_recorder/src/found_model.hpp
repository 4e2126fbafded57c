// SPDX-License-Identifier: Apache-2.0
// Converts entities found on a robot to what an app.yaml can state.
#pragma once

#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Makes the application of the results, with its observed times, valid for an app.yaml. Parts that
/// come from a file stay as they are. See observed_model.hpp.
void make_valid(model::Application& application, const RunResults& results);

}  // namespace rclrt::recorder
