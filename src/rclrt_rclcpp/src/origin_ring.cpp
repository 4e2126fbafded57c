// SPDX-License-Identifier: Apache-2.0
#include "origin_ring.hpp"

#include <algorithm>

namespace rclrt_rclcpp {

namespace {

enum Phase : std::uint64_t { kEnded = 0, kFilling = 1, kRunning = 2 };
constexpr std::uint64_t kPhases = 4;

constexpr std::memory_order kAcquire = std::memory_order_acquire;
constexpr std::memory_order kRelease = std::memory_order_release;
constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

/// How many places that run are passed over before an instance is given up.
constexpr int kTries = 16;

}  // namespace

OriginRing::Place* OriginRing::begin(std::int64_t start_ns,
                                     std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING {
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t ticket = 1 + next_.fetch_add(1, kRelaxed);
    Place& place = places_[ticket % kPlaces];
    std::uint64_t state = place.state.load(kRelaxed);
    if (state % kPhases != kEnded || !place.state.compare_exchange_strong(
                                         state, ticket * kPhases + kFilling, kAcquire, kRelaxed)) {
      continue;
    }
    place.start_ns.store(start_ns, kRelease);
    place.end_ns.store(INT64_MAX, kRelease);
    place.origin_ns.store(origin_ns, kRelease);
    place.state.store(ticket * kPhases + kRunning, kRelease);
    return &place;
  }
  return nullptr;
}

void OriginRing::end(Place& place, std::int64_t end_ns) noexcept RCLRT_NONBLOCKING {
  place.end_ns.store(end_ns, kRelease);
  const std::uint64_t state = place.state.load(kRelaxed);
  place.state.store(state - kRunning + kEnded, kRelease);
}

std::optional<OriginRing::Instance> OriginRing::find(std::int64_t at_ns) const noexcept
    RCLRT_NONBLOCKING {
  const std::uint64_t newest = next_.load(kRelaxed);
  const std::uint64_t places = std::min<std::uint64_t>(newest, kPlaces);
  for (std::uint64_t i = 0; i < places; ++i) {
    const Place& place = places_[(newest - i) % kPlaces];
    const std::uint64_t before = place.state.load(kAcquire);
    if (before == 0 || before % kPhases == kFilling) {
      continue;
    }
    const Instance instance{place.start_ns.load(kAcquire), place.origin_ns.load(kAcquire)};
    const std::int64_t end_ns = place.end_ns.load(kAcquire);
    // The ticket alone: running or ended, it is the same instance.
    const bool is_whole = place.state.load(kRelaxed) / kPhases == before / kPhases;
    if (is_whole && instance.start_ns <= at_ns && at_ns <= end_ns) {
      return instance;
    }
  }
  return std::nullopt;
}

}  // namespace rclrt_rclcpp
