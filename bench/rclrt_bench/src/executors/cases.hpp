// SPDX-License-Identifier: Apache-2.0
// The cases: each runs the contender of the setting and adds its measurements to its rows.
#pragma once

#include "measurement.hpp"
#include "setting.hpp"

namespace rclrt::bench {

/// Measures the time from a timer's nominal release to the first instruction of its callback.
/// `row.key.entities` timers on `row.key.levels` priority levels have 1000 releases a second
/// together.
void measure_timers(const Setting& setting, Row& row);

/// Measures messages that a thread outside the executor publishes. `dispatch`: the time from the
/// middleware's announcement of the message to the callback. `publish`: the time from before the
/// publish to the callback.
void measure_publish(const Setting& setting, Row& dispatch, Row& publish);

/// A thread publishes to an intra-process subscription: from before the publish to the callback.
void measure_intra_process(const Setting& setting, Row& row);

/// Measures messages that a timer's callback publishes to a more urgent callback of the same
/// executor: the time from before the publish to that callback.
void measure_publish_in_callback(const Setting& setting, Row& row);

/// Measures requests that a thread outside the executor sends. `service`: the time from the
/// announcement of the request to the service's callback. `client`: the time from the announcement
/// of the response to the client's callback.
void measure_request(const Setting& setting, Row& service, Row& client);

/// Measures one of `row.key.entities` guard conditions that a thread outside the executor triggers:
/// the time from before the trigger to the callback.
void measure_guard_conditions(const Setting& setting, Row& row);

/// Lateness of an urgent timer of 10 ms beside a callback that burns 20 ms of CPU time every 50 ms.
void measure_burner(const Setting& setting, Row& row);

/// Measures the first messages after the start. A timer of 2 kHz publishes 10 000 bytes to a more
/// urgent callback; the measured time is from the timer's nominal release to that callback.
/// `first`: the first 5 instances. `next`: the 10 * `setting.samples` instances after them. There
/// is no warm-up.
void measure_first(const Setting& setting, Row& first, Row& next);

/// A thread publishes without a pause for as many milliseconds as there are samples.
void measure_saturated(const Setting& setting, Row& row);

}  // namespace rclrt::bench
