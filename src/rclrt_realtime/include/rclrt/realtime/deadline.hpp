// SPDX-License-Identifier: Apache-2.0
// std::chrono time points and durations as deadlines on CLOCK_MONOTONIC.
#pragma once

#include <chrono>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A deadline that never comes.
inline constexpr std::int64_t kNever = INT64_MAX;

/// What fits into nanoseconds with room to spare.
inline constexpr std::chrono::hours kHundredYears{100 * 365 * 24};

/// Converts a point of std::chrono::steady_clock, which is CLOCK_MONOTONIC on Linux, rounded up to
/// nanoseconds; kNever for more than a hundred years after the start of the machine.
template <typename Duration>
std::int64_t to_deadline_ns(
    std::chrono::time_point<std::chrono::steady_clock, Duration> time) noexcept RCLRT_NONBLOCKING {
  if (time.time_since_epoch() > kHundredYears) {
    return kNever;
  }
  return std::chrono::ceil<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// Returns the time `timeout` from now, rounded up to nanoseconds; kNever for more than a hundred
/// years.
template <typename Rep, typename Period>
std::int64_t to_deadline_ns(std::chrono::duration<Rep, Period> timeout) noexcept RCLRT_NONBLOCKING {
  if (timeout > kHundredYears) {
    return kNever;
  }
  return monotonic_now_ns() + std::chrono::ceil<std::chrono::nanoseconds>(timeout).count();
}

}  // namespace rclrt::realtime
