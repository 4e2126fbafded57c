// SPDX-License-Identifier: Apache-2.0
#include "host_clock.hpp"

#include <time.h>

#include <algorithm>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/slewed_clock.hpp"

namespace rclrt::clock {

namespace {

constexpr std::int64_t kNoise_ns = 1'000;

}  // namespace

ClockReading read_clocks() noexcept {
  const std::int64_t before_ns = realtime::read_clock_ns(CLOCK_MONOTONIC_RAW);
  const std::int64_t monotonic_ns = realtime::monotonic_now_ns();
  const std::int64_t realtime_ns = realtime::read_clock_ns(CLOCK_REALTIME);
  return {before_ns, monotonic_ns, realtime_ns, realtime::read_clock_ns(CLOCK_MONOTONIC_RAW)};
}

HostTime HostClock::now() {
  const ClockReading best = realtime::least_interrupted(read_);
  const std::int64_t reading_ns = best.after_ns - best.before_ns;
  const std::int64_t difference_ns = best.realtime_ns - best.monotonic_ns;
  const Difference found{difference_ns - reading_ns, difference_ns + reading_ns};
  if (!difference_) {
    difference_ = found;
  } else if (found.low_ns > difference_->high_ns + kNoise_ns ||
             found.high_ns < difference_->low_ns - kNoise_ns) {
    ++sets_;
    difference_ = found;
  } else {
    const Difference both{std::max(found.low_ns, difference_->low_ns),
                          std::min(found.high_ns, difference_->high_ns)};
    if (both.low_ns <= both.high_ns) {
      difference_ = both;
    }
  }
  return {best.realtime_ns, best.monotonic_ns, best.before_ns, reading_ns, sets_};
}

}  // namespace rclrt::clock
