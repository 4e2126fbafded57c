// SPDX-License-Identifier: Apache-2.0
// Conversion of times to messages.
#pragma once

#include <builtin_interfaces/msg/time.hpp>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::detail {

/// Returns a time as messages carry it.
inline builtin_interfaces::msg::Time time_message(std::int64_t time_ns) {
  builtin_interfaces::msg::Time time;
  time.sec = static_cast<std::int32_t>(time_ns / realtime::kNanosecondsPerSecond);
  time.nanosec = static_cast<std::uint32_t>(time_ns % realtime::kNanosecondsPerSecond);
  return time;
}

}  // namespace rclrt::detail
