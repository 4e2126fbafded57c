// SPDX-License-Identifier: Apache-2.0
// Converts entities found on a robot to what an app.yaml can state.
#pragma once

#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Changes the application of a run so that it is valid as an app.yaml. Parts that come from a file
/// stay as they are. For the changes see observed_model.hpp.
void make_valid(model::Application& application, const RunResults& results);

}  // namespace rclrt::recorder
