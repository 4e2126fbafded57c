// SPDX-License-Identifier: Apache-2.0
#include "host_offset.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::runner {

namespace {

constexpr std::int64_t kMost_ns = std::int64_t{1} << 61;
constexpr std::int64_t kLongestReading_ns = 1'000'000;
constexpr std::int64_t kUninterrupted_ns = 2'000;
constexpr int kMostReadings = 8;
constexpr std::int64_t kPeriod_ns = 100'000'000;  // between answers, about
constexpr double kMostSlew = 0.1;                 // chrony slews by up to 83 333 ppm

bool is_possible(const ClockPair& pair) {
  const auto is_time = [](std::int64_t time_ns) { return time_ns >= 0 && time_ns < kMost_ns; };
  return is_time(pair.before_ns) && is_time(pair.monotonic_ns) && is_time(pair.after_ns) &&
         pair.after_ns >= pair.before_ns && pair.after_ns - pair.before_ns < kLongestReading_ns;
}

}  // namespace

ClockPair read_clock_pair() noexcept {
  const auto took_ns = [](const ClockPair& pair) { return pair.after_ns - pair.before_ns; };
  const auto read = [] {
    const std::int64_t before_ns = realtime::read_clock_ns(CLOCK_MONOTONIC_RAW);
    const std::int64_t monotonic_ns = realtime::monotonic_now_ns();
    return ClockPair{before_ns, monotonic_ns, realtime::read_clock_ns(CLOCK_MONOTONIC_RAW)};
  };
  ClockPair best = read();
  for (int i = 1; i < kMostReadings && took_ns(best) > kUninterrupted_ns; ++i) {
    const ClockPair other = read();
    best = took_ns(other) < took_ns(best) ? other : best;
  }
  return best;
}

void HostOffset::add(const ClockPair& sent, const ClockPair& theirs, const ClockPair& received) {
  if (!is_possible(theirs)) {
    return;
  }
  // The answer was written after the ping came, and before the answer was sent.
  raw_.add_answered(sent.before_ns, theirs.after_ns, sent.before_ns);
  raw_.add_received(theirs.before_ns, received.after_ns, received.after_ns);
  const std::int64_t since_ns = shift_ ? theirs.before_ns - shift_->at_ns : 0;
  const Shift next{.low_ns = theirs.monotonic_ns - theirs.after_ns,
                   .high_ns = theirs.monotonic_ns - theirs.before_ns,
                   .at_ns = theirs.before_ns};
  if (shift_ && since_ns > 0) {
    const auto changed_ns = static_cast<double>(next.high_ns - shift_->high_ns);
    slew_ = std::min(std::abs(changed_ns) / static_cast<double>(since_ns), kMostSlew);
  }
  shift_ = next;
  heard_at_ns_ = received.after_ns;
  ++answers_;
}

std::optional<realtime::OffsetInterval> HostOffset::at(const ClockPair& now) const {
  const auto raw = raw_.at(now.after_ns);
  if (!raw || !shift_) {
    return std::nullopt;
  }
  // A slew that goes on may be twice as fast as between the last two answers.
  const std::int64_t since_ns = std::max<std::int64_t>(now.after_ns - heard_at_ns_, 0) + kPeriod_ns;
  const auto slewed_ns =
      static_cast<std::int64_t>(std::ceil(2 * slew_ * static_cast<double>(since_ns)));
  const std::int64_t own_low_ns = now.monotonic_ns - now.after_ns;
  const std::int64_t own_high_ns = now.monotonic_ns - now.before_ns;
  return realtime::OffsetInterval{raw->low_ns + shift_->low_ns - own_high_ns - slewed_ns,
                                  raw->high_ns + shift_->high_ns - own_low_ns + slewed_ns};
}

}  // namespace rclrt::runner
