// SPDX-License-Identifier: Apache-2.0
// The parts of a missed instance's time that only this package knows.
#pragma once

#include <rmw/types.h>

#include <array>
#include <cstdint>

#include "rclrt/executor/deadline_miss.hpp"
#include "rclrt/realtime/safety.hpp"
#include "rclrt_rclcpp/export.hpp"

namespace rclrt_rclcpp {

/// A part of the time of an instance, or before its message arrived.
struct TimeBefore {
  std::int64_t time_ns = 0;
  std::int64_t beyond_ns = 0;  ///< beyond the least time seen
};

/// The source of an instance's message, and the time that it took to arrive.
struct MessageOrigin {
  std::array<std::uint8_t, RMW_GID_STORAGE_SIZE> publisher{};
  TimeBefore before_publication;  ///< from its stamp
  TimeBefore in_middleware;       ///< from its publication to its arrival
};

/// The details of a miss.
struct MissDetails {
  TimeBefore itself;     ///< CPU time of user code; zero without Options::measure_responses
  MessageOrigin origin;  ///< of a message that has an age; otherwise zero
  /// Of a timer with a largest age: from the oldest data that it sampled to its release.
  TimeBefore before_release{};
};

/// Returns the details of a deadline miss of one of this package's executors. Only the MissHandler
/// that received the miss may call it, on the same thread and before it returns.
RCLRT_RCLCPP_EXPORT MissDetails
details_of(const rclrt::executor::DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt_rclcpp
