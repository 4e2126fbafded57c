// SPDX-License-Identifier: Apache-2.0
// The application as it was seen to run.
#pragma once

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Returns the application of the results with the CPU times of user code that were recorded as
/// `observed` of each callback, and the longest one as its WCET: bounds from it are conditional.
/// Leaves callbacks as they are that never ran, or that state observed times already.
///
/// What was found of a robot, and stands in no file, becomes what an app.yaml can state: names are
/// made fit and unique, timers and what takes messages of the application stay what they are,
/// everything else (services, clients, waitables, messages from elsewhere) is an event with the
/// intervals that were seen; what never ran, and topics of tools, are left out. With
/// `proposes_chains` each way from a timer or an event to a sink is a chain, and so is one to each
/// callback with a largest age, which is its deadline. The description says what was assumed.
/// Thread-safe.
RCLRT_RECORDER_EXPORT model::Application observed_model(const RunResults& results);

}  // namespace rclrt::recorder
