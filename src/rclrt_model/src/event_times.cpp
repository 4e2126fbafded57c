// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/event_times.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace rclrt::model {
namespace {

/// FNV-1a of 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3U;
  }
  return hash;
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t value = state += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

/// Saturates.
std::int64_t add(std::int64_t time, std::int64_t more) {
  const bool fits = time <= std::numeric_limits<std::int64_t>::max() - more;
  return fits ? time + more : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

EventTimes::EventTimes(const Event& event, std::string_view id)
    : min_ns_(event.min_interval.count()),
      max_ns_(event.max_interval.count()),
      period_ns_(event.period.count()),
      jitter_ns_(event.jitter.count()),
      bunch_(0),
      only_extremes_(event.seed >= EventTimes::kExtremes && event.seed != Event::kDensest),
      state_(hash_of(id) ^ (event.seed * 0xD1342543DE82EF95U)) {
  if (min_ns_ <= 0 || max_ns_ < min_ns_) {
    throw std::invalid_argument("the intervals of event '" + std::string(id) +
                                "' are not positive and in ascending order; expected "
                                "0 < min_interval <= max_interval");
  }
  if (period_ns_ == 0) {
    next_ns_ = event.offset ? event.offset->count() : draw(0, max_ns_ - 1);
    return;
  }
  if (jitter_ns_ < 0 || min_ns_ > period_ns_ || min_ns_ < period_ns_ - jitter_ns_) {
    throw std::invalid_argument("the shortest interval of event '" + std::string(id) +
                                "' does not fit its period and jitter; expected "
                                "period - jitter <= min_interval <= period");
  }
  const std::int64_t first = event.offset ? event.offset->count() : draw(0, period_ns_ - 1);
  if (event.seed == Event::kDensest) {
    // The releases on time are as many as a load of 80 % needs until the dense ones are done.
    const auto dense = static_cast<std::uint64_t>(jitter_ns_ / period_ns_) + 1;
    bunch_ = 5 * dense + 4;
    nominal_ns_ = first - jitter_ns_;
    if (nominal_ns_ >= period_ns_) {  // releases on time come before the first bunch
      const std::int64_t before = nominal_ns_ / period_ns_;
      nominal_ns_ -= before * period_ns_;
      number_ = bunch_ - (static_cast<std::uint64_t>(before) % bunch_);
    }
  } else {
    nominal_ns_ = first;
  }
  next_ns_ = add(nominal_ns_, lateness());
}

Nanoseconds EventTimes::next() {
  const Nanoseconds result(next_ns_);
  if (period_ns_ == 0) {
    next_ns_ = add(next_ns_, draw(min_ns_, max_ns_));
    return result;
  }
  ++number_;
  nominal_ns_ = add(nominal_ns_, period_ns_);
  next_ns_ = std::max(add(nominal_ns_, lateness()), add(next_ns_, min_ns_));
  return result;
}

/// Returns how much later than its nominal time the next release would be without the one before.
std::int64_t EventTimes::lateness() {
  if (bunch_ == 0) {
    return draw(0, jitter_ns_);
  }
  return number_ % bunch_ == 0 ? jitter_ns_ : 0;
}

/// The high half of the product maps 64 random bits to the range.
std::int64_t EventTimes::draw(std::int64_t low, std::int64_t high) {
  if (only_extremes_) {
    return (next_random(state_) >> 63U) != 0 ? high : low;
  }
  __extension__ using Wide = unsigned __int128;
  const auto count = static_cast<std::uint64_t>(high - low) + 1;
  const auto picked = static_cast<std::uint64_t>((Wide{next_random(state_)} * count) >> 64U);
  return low + static_cast<std::int64_t>(picked);
}

}  // namespace rclrt::model
