// SPDX-License-Identifier: Apache-2.0
// The offset between clocks that NTP slews, from that between clocks that nothing slews.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rclrt/realtime/clock_offset.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Returns the least interrupted of up to eight readings, or the first that took at most 2 µs.
/// `read()` returns readings of some clocks between `before_ns` and `after_ns`. Thread-safe if
/// `read` is.
template <typename Read>
RCLRT_SETUP auto least_interrupted(const Read& read) {
  constexpr std::int64_t kUninterrupted_ns = 2'000;
  constexpr int kMostReadings = 8;
  const auto took_ns = [](const auto& reading) { return reading.after_ns - reading.before_ns; };
  auto best = read();
  for (int i = 1; i < kMostReadings && took_ns(best) > kUninterrupted_ns; ++i) {
    if (const auto other = read(); took_ns(other) < took_ns(best)) {
      best = other;
    }
  }
  return best;
}

/// Returns the offset of another host's clock that may be slewed. `raw`: that of the two
/// CLOCK_MONOTONIC_RAW. `theirs`, `own`: the clock of each host less its CLOCK_MONOTONIC_RAW; that
/// of the other host as of `since_ns` ago. `slew`: how fast `theirs` changed between the last two
/// answers, as a share of the time. A slew that goes on may be twice as fast as between these, and
/// an answer may be 100 ms old. The bounds are at most 2^62 ns. Thread-safe.
inline OffsetInterval offset_of_slewed(const OffsetInterval& raw, const OffsetInterval& theirs,
                                       const OffsetInterval& own, double slew,
                                       std::int64_t since_ns) noexcept RCLRT_NONBLOCKING {
  __extension__ using Wide = __int128;
  constexpr std::int64_t kAnswer_ns = 100'000'000;
  constexpr std::int64_t kMost_ns = std::int64_t{1} << 62;
  const Wide slewed_ns =
      static_cast<std::int64_t>(std::ceil(2 * slew * static_cast<double>(since_ns + kAnswer_ns)));
  const auto clamp = [](Wide time_ns) {
    return static_cast<std::int64_t>(std::clamp<Wide>(time_ns, -kMost_ns, kMost_ns));
  };
  return {clamp(Wide{raw.low_ns} + theirs.low_ns - own.high_ns - slewed_ns),
          clamp(Wide{raw.high_ns} + theirs.high_ns - own.low_ns + slewed_ns)};
}

}  // namespace rclrt::realtime
