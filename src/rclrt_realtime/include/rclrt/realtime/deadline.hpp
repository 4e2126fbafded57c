// SPDX-License-Identifier: Apache-2.0
// std::chrono time points and durations as deadlines on CLOCK_MONOTONIC.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ratio>
#include <type_traits>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A deadline that never comes.
inline constexpr std::int64_t kNever = INT64_MAX;

/// Longer durations become kNever. This one fits into nanoseconds with room to spare.
inline constexpr std::chrono::hours kHundredYears{100 * 365 * 24};

namespace detail {

/// Returns the duration in nanoseconds, rounded up; kNever for more than a hundred years.
template <typename Rep, typename Period>
constexpr std::int64_t rounded_up_ns(std::chrono::duration<Rep, Period> duration) noexcept
    RCLRT_NONBLOCKING {
  constexpr bool kIsExact =
      !std::is_floating_point_v<Rep> && std::ratio_divide<Period, std::nano>::den == 1;
  const std::int64_t nearest_ns = saturate_cast<std::chrono::nanoseconds>(duration).count();
  if (nearest_ns > std::chrono::nanoseconds(kHundredYears).count()) {
    return kNever;
  }
  return kIsExact || nearest_ns <= 0 ? nearest_ns : nearest_ns + 1;
}

}  // namespace detail

/// Converts a time point of std::chrono::steady_clock (CLOCK_MONOTONIC on Linux) to nanoseconds,
/// rounded up. Returns kNever for a time more than a hundred years after the start of the machine,
/// and 0 for a time before the start of the machine.
template <typename Duration>
std::int64_t to_deadline_ns(
    std::chrono::time_point<std::chrono::steady_clock, Duration> time) noexcept RCLRT_NONBLOCKING {
  return std::max<std::int64_t>(detail::rounded_up_ns(time.time_since_epoch()), 0);
}

/// Returns the CLOCK_MONOTONIC time that is `timeout` from now, rounded up to nanoseconds; kNever
/// for more than a hundred years. A negative timeout yields a time that has passed.
template <typename Rep, typename Period>
std::int64_t to_deadline_ns(std::chrono::duration<Rep, Period> timeout) noexcept RCLRT_NONBLOCKING {
  const std::int64_t from_now_ns = detail::rounded_up_ns(timeout);
  return std::max<std::int64_t>(saturating_add(monotonic_now_ns(), from_now_ns), 0);
}

}  // namespace rclrt::realtime
