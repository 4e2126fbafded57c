// SPDX-License-Identifier: Apache-2.0
// The application as observed in a run.
#pragma once

#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/results.hpp"

namespace rclrt::recorder {

/// Returns the application of the results, with the recorded CPU times of user code as `observed`
/// of each callback and the longest one as its WCET: bounds from it are conditional. Does not
/// change callbacks that never ran, or that state observed times already.
///
/// Entities that were found on a robot and are in no file are converted to what an app.yaml can
/// state. Names become valid and unique. Timers, and callbacks that take messages of the
/// application, keep their kind. Everything else (services, clients, waitables, messages from
/// elsewhere) becomes an event with the observed intervals. Callbacks that never ran, and topics of
/// tools, are left out. With `proposes_chains` each path from a timer or an event to a sink becomes
/// a chain, and so does one to each callback with a largest age, which is its deadline. The
/// description lists the assumptions. Thread-safe.
RCLRT_RECORDER_EXPORT model::Application observed_model(const RunResults& results);

}  // namespace rclrt::recorder
