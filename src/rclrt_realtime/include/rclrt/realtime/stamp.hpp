// SPDX-License-Identifier: Apache-2.0
// The stamps of messages (CLOCK_REALTIME) as times of CLOCK_MONOTONIC, on which everything else is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Returns CLOCK_MONOTONIC - CLOCK_REALTIME in nanoseconds, from the least interrupted of three
/// readings. Thread-safe.
inline std::int64_t monotonic_less_realtime_ns() noexcept RCLRT_NONBLOCKING {
  constexpr std::int64_t kUninterrupted_ns = 5'000;
  std::int64_t result = 0;
  std::int64_t least_ns = INT64_MAX;
  for (int i = 0; i < 3 && least_ns > kUninterrupted_ns; ++i) {
    const std::int64_t before_ns = monotonic_now_ns();
    const std::int64_t now_ns = read_clock_ns(CLOCK_REALTIME);
    const std::int64_t took_ns = monotonic_now_ns() - before_ns;
    if (took_ns < least_ns) {
      least_ns = took_ns;
      result = before_ns + took_ns / 2 - now_ns;
    }
  }
  return result;
}

/// Returns a stamp as a time of CLOCK_MONOTONIC, at most `now_ns`, and at least 1: a message may be
/// older than the start of this machine, where that clock begins. std::nullopt: the stamp is
/// impossible, that is, not positive, more than a second in the future, or older than a year.
/// `stamp_ns`: nanoseconds since 1970. `less_realtime_ns`: see monotonic_less_realtime_ns.
/// `now_ns`: of CLOCK_MONOTONIC.
inline std::optional<std::int64_t> stamp_to_monotonic_ns(
    std::int64_t stamp_ns, std::int64_t less_realtime_ns,
    std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  // The largest plausible difference between the clocks of two machines; without PTP they differ by
  // milliseconds.
  constexpr std::int64_t kClocksDiffer_ns = kNanosecondsPerSecond;
  // Older stamps are from another clock: simulated time begins with 0.
  constexpr std::int64_t kOldest_ns = 365LL * 24 * 3600 * kNanosecondsPerSecond;
  const std::int64_t now_realtime_ns = now_ns - less_realtime_ns;
  if (stamp_ns <= 0 || stamp_ns > now_realtime_ns + kClocksDiffer_ns ||
      stamp_ns < now_realtime_ns - kOldest_ns) {
    return std::nullopt;
  }
  return std::max<std::int64_t>(std::min(stamp_ns + less_realtime_ns, now_ns), 1);
}

/// A message with the field `header.stamp` of ROS 2.
template <typename Message>
concept Stamped = requires(const Message& message) {
  message.header.stamp.sec;
  message.header.stamp.nanosec;
};

/// Returns the stamp of a message, in nanoseconds since 1970; 0: it is not set.
template <Stamped Message>
std::int64_t stamp_ns(const Message& message) noexcept RCLRT_NONBLOCKING {
  return std::int64_t{message.header.stamp.sec} * kNanosecondsPerSecond +
         std::int64_t{message.header.stamp.nanosec};
}

}  // namespace rclrt::realtime
