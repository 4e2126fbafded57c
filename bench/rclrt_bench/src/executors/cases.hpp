// SPDX-License-Identifier: Apache-2.0
// The cases: each runs the contender of the setting and adds its measurements to its rows.
#pragma once

#include "measurement.hpp"
#include "setting.hpp"

namespace rclrt::bench {

/// `row.key.entities` timers on `row.key.levels` levels share 1000 releases a second: nominal
/// release to the first instruction of the callback.
void measure_timers(const Setting& setting, Row& row);

/// A thread publishes. `dispatch`: from the middleware's announcement to the callback; `publish`:
/// from before the publish to the callback.
void measure_publish(const Setting& setting, Row& dispatch, Row& publish);

/// A thread publishes to an intra-process subscription: from before the publish to the callback.
void measure_intra_process(const Setting& setting, Row& row);

/// A timer's callback publishes to a more urgent callback of the same contender: from before the
/// publish to the callback.
void measure_publish_in_callback(const Setting& setting, Row& row);

/// A thread sends requests: from the announcement of the request to the service's callback, and
/// from the announcement of its response to the handler.
void measure_request(const Setting& setting, Row& service, Row& client);

/// A thread triggers one of `row.key.entities` guard conditions: from before the trigger to the
/// callback.
void measure_guard_conditions(const Setting& setting, Row& row);

/// Lateness of an urgent timer of 10 ms beside a callback that burns 20 ms of CPU time every 50 ms.
void measure_burner(const Setting& setting, Row& row);

/// A timer of 2 kHz publishes 10 000 bytes to a more urgent callback, from the first instance on:
/// nominal release to callback, of the first 5 instances and of the 10 * `setting.samples` that
/// follow. Nothing is left out as a warm-up.
void measure_first(const Setting& setting, Row& first, Row& next);

/// A thread publishes without a pause for as many milliseconds as there are samples.
void measure_saturated(const Setting& setting, Row& row);

}  // namespace rclrt::bench
