// SPDX-License-Identifier: Apache-2.0
// The application as it was seen to run.
#pragma once

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Returns the application of the results with the CPU times of user code that were recorded as
/// `observed` of each callback, and the longest one as its WCET: bounds from it are conditional.
/// Leaves callbacks as they are that never ran, or that state observed times already. Thread-safe.
RCLRT_RECORDER_EXPORT model::Application observed_model(const RunResults& results);

}  // namespace rclrt::recorder
