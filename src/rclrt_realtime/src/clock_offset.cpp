// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/clock_offset.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "rclrt/realtime/duration.hpp"

namespace rclrt::realtime {

namespace {

// In the year 2116. Differences of times up to here do not overflow, with the growth added.
constexpr std::int64_t kLatest_ns = std::int64_t{1} << 62;
constexpr std::int64_t kResolution_ns = 1;  // a reading of a clock is cut to whole nanoseconds
constexpr std::int64_t kBillion = 1'000'000'000;

constexpr bool is_possible(std::int64_t time_ns) { return time_ns >= 0 && time_ns <= kLatest_ns; }

/// Two clocks with frequency errors of at most r differ by at most (1 + r) / (1 - r) - 1.
std::int64_t drift_between_ppb(double host_drift_ppm) {
  if (!(host_drift_ppm >= 0 && host_drift_ppm <= ClockOffset::kMaxDriftPpm)) {
    throw std::invalid_argument("the drift of a clock is " + std::to_string(host_drift_ppm) +
                                " ppm; expected 0 to 100000");
  }
  const double ratio = host_drift_ppm / 1e6;
  return static_cast<std::int64_t>(std::ceil(2 * ratio / (1 - ratio) * 1e9));
}

}  // namespace

ClockOffset::ClockOffset(double host_drift_ppm) : drift_ppb_(drift_between_ppb(host_drift_ppm)) {}

std::int64_t ClockOffset::growth_ns(std::int64_t from_ns,
                                    std::int64_t to_ns) const noexcept RCLRT_NONBLOCKING {
  const detail::WideInteger time_ns = from_ns < to_ns ? to_ns - from_ns : from_ns - to_ns;
  return static_cast<std::int64_t>((time_ns * drift_ppb_ + kBillion - 1) / kBillion);
}

ClockOffset::Added ClockOffset::add_received(std::int64_t peer_sent_ns, std::int64_t received_ns,
                                             std::int64_t at_ns) noexcept RCLRT_NONBLOCKING {
  if (!is_possible(peer_sent_ns) || !is_possible(received_ns) || !is_possible(at_ns)) {
    return Added::kImpossible;
  }
  return check({peer_sent_ns - received_ns - kResolution_ns, at_ns}, true);
}

ClockOffset::Added ClockOffset::add_answered(std::int64_t sent_ns, std::int64_t peer_received_ns,
                                             std::int64_t at_ns) noexcept RCLRT_NONBLOCKING {
  if (!is_possible(sent_ns) || !is_possible(peer_received_ns) || !is_possible(at_ns)) {
    return Added::kImpossible;
  }
  return check({peer_received_ns - sent_ns + kResolution_ns, at_ns}, false);
}

ClockOffset::Added ClockOffset::check(const Bound& newest, bool is_low) noexcept RCLRT_NONBLOCKING {
  std::optional<Bound>& own = is_low ? low_ : high_;
  if (const std::optional<Bound>& other = is_low ? high_ : low_) {
    // Bounds contradict each other at all times if they do at a time between theirs: there, both
    // together have grown least.
    const Bound& low = is_low ? newest : *other;
    const Bound& high = is_low ? *other : newest;
    const detail::WideInteger beyond_ns = detail::WideInteger{low.offset_ns} - high.offset_ns;
    if (beyond_ns > growth_ns(low.at_ns, high.at_ns)) {
      restart();
      own = newest;
      ++steps_;
      return Added::kStep;
    }
  }
  const auto is_better = [&](const Bound& old) {
    const std::int64_t at_ns = std::max(old.at_ns, newest.at_ns);
    const std::int64_t old_growth = growth_ns(old.at_ns, at_ns);
    const std::int64_t new_growth = growth_ns(newest.at_ns, at_ns);
    return is_low ? newest.offset_ns - new_growth >= old.offset_ns - old_growth
                  : newest.offset_ns + new_growth <= old.offset_ns + old_growth;
  };
  if (!own || is_better(*own)) {
    own = newest;
  }
  if (!anchor_ && low_ && high_) {
    const std::int64_t at_ns = std::max(low_->at_ns, high_->at_ns);
    anchor_ = Anchor{*at(at_ns), at_ns};
  }
  return Added::kConsistent;
}

void ClockOffset::restart() noexcept RCLRT_NONBLOCKING {
  low_.reset();
  high_.reset();
  anchor_.reset();
}

std::optional<OffsetInterval> ClockOffset::at(std::int64_t at_ns) const noexcept RCLRT_NONBLOCKING {
  if (!low_ || !high_ || !is_possible(at_ns)) {
    return std::nullopt;
  }
  return OffsetInterval{low_->offset_ns - growth_ns(low_->at_ns, at_ns),
                        high_->offset_ns + growth_ns(high_->at_ns, at_ns)};
}

std::optional<DriftInterval> ClockOffset::drift(std::int64_t at_ns) const noexcept
    RCLRT_NONBLOCKING {
  const std::optional<OffsetInterval> now = at(at_ns);
  if (!now || !anchor_ || at_ns <= anchor_->at_ns) {
    return std::nullopt;
  }
  const double time = static_cast<double>(at_ns - anchor_->at_ns) / 1e6;
  const DriftInterval result{static_cast<double>(now->low_ns - anchor_->interval.high_ns) / time,
                             static_cast<double>(now->high_ns - anchor_->interval.low_ns) / time};
  // A drift that is known less exactly than any clock's may be is of no use.
  return result.high_ppm - result.low_ppm <= kMaxDriftPpm ? std::optional(result) : std::nullopt;
}

}  // namespace rclrt::realtime
