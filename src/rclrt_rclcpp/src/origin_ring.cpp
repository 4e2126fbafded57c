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

/// The number of places with running instances that are passed over before `claim` gives up.
constexpr int kTries = 16;

/// Changes the phase. Called only by the owner of the place.
void move_on(OriginRing::Place& place, Phase from, Phase to) noexcept RCLRT_NONBLOCKING {
  place.state.store(place.state.load(kRelaxed) - from + to, kRelease);
}

}  // namespace

OriginRing::Place* OriginRing::claim() noexcept RCLRT_NONBLOCKING {
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t ticket = 1 + next_.fetch_add(1, kRelaxed);
    Place& place = places_[ticket % kPlaces];
    std::uint64_t state = place.state.load(kRelaxed);
    if (state % kPhases == kEnded && place.state.compare_exchange_strong(
                                         state, ticket * kPhases + kFilling, kAcquire, kRelaxed)) {
      return &place;
    }
  }
  return nullptr;
}

void OriginRing::start(Place& place, std::int64_t start_ns,
                       std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING {
  place.start_ns.store(start_ns, kRelease);
  place.end_ns.store(INT64_MAX, kRelease);
  place.origin_ns.store(origin_ns, kRelease);
  move_on(place, kFilling, kRunning);
}

void OriginRing::end(Place& place, std::int64_t end_ns) noexcept RCLRT_NONBLOCKING {
  place.end_ns.store(end_ns, kRelease);
  move_on(place, kRunning, kEnded);
}

std::optional<OriginRing::Instance> OriginRing::find(std::int64_t at_ns) const noexcept
    RCLRT_NONBLOCKING {
  const std::uint64_t newest = next_.load(kRelaxed);
  const std::uint64_t places = std::min<std::uint64_t>(newest, kPlaces);
  // An instance in a place that was passed over: its ticket is older than those of the other
  // places.
  std::optional<Instance> old;
  std::uint64_t old_ticket = 0;
  for (std::uint64_t i = 0; i < places; ++i) {
    const Place& place = places_[(newest - i) % kPlaces];
    const std::uint64_t before = place.state.load(kAcquire);
    if (before == 0 || before % kPhases == kFilling) {
      continue;
    }
    const Instance instance{place.start_ns.load(kAcquire), place.origin_ns.load(kAcquire)};
    const std::int64_t end_ns = place.end_ns.load(kAcquire);
    // Compares only the ticket: running or ended, it is the same instance.
    const std::uint64_t ticket = before / kPhases;
    const bool is_whole = place.state.load(kRelaxed) / kPhases == ticket;
    if (!is_whole || at_ns < instance.start_ns || end_ns < at_ns) {
      continue;
    }
    if (ticket == newest - i) {
      return instance;
    }
    if (ticket >= old_ticket) {
      old = instance;
      old_ticket = ticket;
    }
  }
  return old;
}

}  // namespace rclrt_rclcpp
