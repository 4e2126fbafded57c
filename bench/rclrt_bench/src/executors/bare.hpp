// SPDX-License-Identifier: Apache-2.0
// The floors: the cost of the kernel and the middleware without any executor.
#pragma once

#include "measurement.hpp"
#include "setting.hpp"

namespace rclrt::bench {

/// From before FUTEX_WAKE in one thread to the return from FUTEX_WAIT in a more urgent one.
void measure_futex_wake(const Setting& setting, Row& row);

/// Lateness of clock_nanosleep to an absolute time.
void measure_nanosleep(const Setting& setting, Row& row);

/// The same with a futex that nothing wakes: a thread that may also be woken earlier waits so.
void measure_futex_timeout(const Setting& setting, Row& row);

/// Measures one thread that publishes a message and takes it. `publish`: the time from before the
/// publish to after the take. `take`: the time of the take alone.
void measure_publish_take(const Setting& setting, Row& publish, Row& take);

/// Measures the time from the middleware's announcement of a message, which it makes within the
/// publish, to the end of that publish. Until then the middleware holds the locks that are needed
/// to take the message.
void measure_rest_of_publish(const Setting& setting, Row& row);

/// In one thread: taking a request, and taking its response.
void measure_request_take(const Setting& setting, Row& request, Row& response);

/// The same for services: the time from the announcement of a request to the end of the call that
/// sends it (`request`), and from that of a response to the end of the call that sends it
/// (`response`).
void measure_rest_of_request(const Setting& setting, Row& request, Row& response);

/// One thread publishes, then wakes a more urgent one by a bare futex, and that one takes: by hand
/// the work that an executor does for a message. Measures the time from the middleware's
/// announcement of the message to the end of the take.
void measure_wake_take(const Setting& setting, Row& row);

/// The same for a request.
void measure_wake_take_request(const Setting& setting, Row& row);

/// In one thread: publish and take without a pause.
void measure_saturated_inline(const Setting& setting, Row& row);

}  // namespace rclrt::bench
