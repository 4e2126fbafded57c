// SPDX-License-Identifier: Apache-2.0
#include "host_offset.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/slewed_clock.hpp"

namespace rclrt::runner {

namespace {

constexpr std::int64_t kMost_ns = std::int64_t{1} << 61;
constexpr std::int64_t kLongestReading_ns = 1'000'000;
constexpr double kMostSlew = 0.1;  // chrony slews by up to 83 333 ppm

bool is_possible(const ClockPair& pair) {
  const auto is_time = [](std::int64_t time_ns) { return time_ns >= 0 && time_ns < kMost_ns; };
  return is_time(pair.before_ns) && is_time(pair.monotonic_ns) && is_time(pair.after_ns) &&
         pair.after_ns >= pair.before_ns && pair.after_ns - pair.before_ns < kLongestReading_ns;
}

}  // namespace

ClockPair read_clock_pair() noexcept {
  return realtime::least_interrupted([] {
    const std::int64_t before_ns = realtime::read_clock_ns(CLOCK_MONOTONIC_RAW);
    const std::int64_t monotonic_ns = realtime::monotonic_now_ns();
    return ClockPair{before_ns, monotonic_ns, realtime::read_clock_ns(CLOCK_MONOTONIC_RAW)};
  });
}

void HostOffset::add(const ClockPair& sent, const ClockPair& theirs, const ClockPair& received) {
  if (!is_possible(theirs)) {
    return;
  }
  // The answer was written after the ping came, and before the answer was sent.
  raw_.add_answered(sent.before_ns, theirs.after_ns, sent.before_ns);
  raw_.add_received(theirs.before_ns, received.after_ns, received.after_ns);
  const std::int64_t since_ns = shift_ ? theirs.before_ns - shift_at_ns_ : 0;
  const realtime::OffsetInterval next{theirs.monotonic_ns - theirs.after_ns,
                                      theirs.monotonic_ns - theirs.before_ns};
  if (shift_ && since_ns > 0) {
    const auto changed_ns = static_cast<double>(next.high_ns - shift_->high_ns);
    slew_ = std::min(std::abs(changed_ns) / static_cast<double>(since_ns), kMostSlew);
  }
  shift_ = next;
  shift_at_ns_ = theirs.before_ns;
  heard_at_ns_ = received.after_ns;
  ++answers_;
}

std::optional<realtime::OffsetInterval> HostOffset::at(const ClockPair& now) const {
  const auto raw = raw_.at(now.after_ns);
  if (!raw || !shift_) {
    return std::nullopt;
  }
  return realtime::offset_of_slewed(
      *raw, *shift_, {now.monotonic_ns - now.after_ns, now.monotonic_ns - now.before_ns}, slew_,
      std::max<std::int64_t>(now.after_ns - heard_at_ns_, 0));
}

}  // namespace rclrt::runner
