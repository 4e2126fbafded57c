// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/event_times.hpp"

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

}  // namespace

EventTimes::EventTimes(const Event& event, std::string_view id)
    : min_ns_(event.min_interval.count()),
      max_ns_(event.max_interval.count()),
      state_(hash_of(id) ^ (event.seed * 0xD1342543DE82EF95U)) {
  if (min_ns_ <= 0 || max_ns_ < min_ns_) {
    throw std::invalid_argument("the intervals of event '" + std::string(id) +
                                "' are not positive and in ascending order; expected "
                                "0 < min_interval <= max_interval");
  }
  next_ns_ = event.offset ? event.offset->count() : draw(0, max_ns_ - 1);
}

Nanoseconds EventTimes::next() {
  const Nanoseconds result(next_ns_);
  const std::int64_t interval = draw(min_ns_, max_ns_);
  const bool fits = next_ns_ <= std::numeric_limits<std::int64_t>::max() - interval;
  next_ns_ = fits ? next_ns_ + interval : std::numeric_limits<std::int64_t>::max();
  return result;
}

/// The high half of the product maps 64 random bits to the range.
std::int64_t EventTimes::draw(std::int64_t low, std::int64_t high) {
  __extension__ using Wide = unsigned __int128;
  const auto count = static_cast<std::uint64_t>(high - low) + 1;
  const auto picked = static_cast<std::uint64_t>((Wide{next_random(state_)} * count) >> 64U);
  return low + static_cast<std::int64_t>(picked);
}

}  // namespace rclrt::model
