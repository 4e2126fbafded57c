// SPDX-License-Identifier: Apache-2.0
// What was found of a robot as what an app.yaml can state.
#pragma once

#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Makes the application of the results, with its observed times, one that an app.yaml can state;
/// what a file stated stays as it is. See observed_model.hpp.
void make_valid(model::Application& application, const RunResults& results);

}  // namespace rclrt::recorder
