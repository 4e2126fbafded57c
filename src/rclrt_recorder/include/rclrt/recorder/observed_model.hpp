// SPDX-License-Identifier: Apache-2.0
// The application as observed in a run.
#pragma once

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Returns the application of a run with observed execution times: `observed` of each callback has
/// the recorded CPU times of user code, and its WCET is the longest of them. So bounds from it hold
/// only if no execution takes longer. Callbacks that never ran, or that have observed times
/// already, stay unchanged.
///
/// Callbacks that were found on a robot and are in no file are converted to what an app.yaml can
/// state. Names become valid and unique. Timers, and callbacks that take messages of the
/// application, keep their kind. All others (services, clients, waitables, messages from elsewhere)
/// become events with the observed intervals. Callbacks that never ran and topics of tools are left
/// out. With `proposes_chains` each path from a timer or an event to a sink becomes a chain. So
/// does each path to a callback with a largest age; the age is then the chain's deadline. The
/// description of the application lists the assumptions. Thread-safe.
RCLRT_RECORDER_EXPORT model::Application observed_model(const RunResults& results);

}  // namespace rclrt::recorder
