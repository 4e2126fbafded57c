// SPDX-License-Identifier: Apache-2.0
#include "instance_history.hpp"

#include <algorithm>
#include <stdexcept>

namespace rclrt::executor {

namespace {

enum Phase : std::uint64_t { kEnded = 0, kFilling = 1, kRunning = 2 };
constexpr std::uint64_t kPhases = 4;

constexpr std::memory_order kAcquire = std::memory_order_acquire;
constexpr std::memory_order kRelease = std::memory_order_release;

/// The number of places with running instances that are skipped before an instance is not recorded.
constexpr int kTries = 64;

}  // namespace

InstanceHistory::InstanceHistory(std::size_t capacity)
    : capacity_(capacity), places_(std::make_unique<Place[]>(capacity)) {
  if (capacity == 0) {
    throw std::invalid_argument("a history needs room for at least one instance");
  }
}

InstanceHistory::Place* InstanceHistory::begin(
    const ExecutionInterval& interval, const std::string& callback) noexcept RCLRT_NONBLOCKING {
  for (int i = 0; i < kTries; ++i) {
    // Tickets begin at 1: state 0 is a place never used.
    const std::uint64_t ticket = 1 + next_.fetch_add(1, std::memory_order_relaxed);
    Place& place = places_[ticket % capacity_];
    std::uint64_t state = place.state.load(std::memory_order_relaxed);
    if (state % kPhases != kEnded ||
        !place.state.compare_exchange_strong(state, ticket * kPhases + kFilling, kAcquire,
                                             std::memory_order_relaxed)) {
      continue;
    }
    place.id.store(interval.id, kRelease);
    place.callback.store(&callback, kRelease);
    place.group.store(interval.group, kRelease);
    place.level.store(interval.level, kRelease);
    place.priority.store(interval.priority, kRelease);
    place.deadline_ns.store(interval.deadline_ns, kRelease);
    place.start_ns.store(interval.start_ns, kRelease);
    place.end_ns.store(INT64_MAX, kRelease);
    place.cpu_ns.store(-1, kRelease);
    place.state.store(ticket * kPhases + kRunning, kRelease);
    return &place;
  }
  return nullptr;
}

void InstanceHistory::end(Place& place, std::int64_t end_ns,
                          std::int64_t cpu_ns) noexcept RCLRT_NONBLOCKING {
  // A reader may see either, both or neither: each mixture is valid for an instance that ends now.
  place.cpu_ns.store(cpu_ns, kRelease);
  place.end_ns.store(end_ns, kRelease);
  const std::uint64_t state = place.state.load(std::memory_order_relaxed);
  place.state.store(state - kRunning + kEnded, kRelease);
}

std::size_t InstanceHistory::copy(
    std::int64_t from_ns, std::int64_t until_ns, std::uint64_t without,
    std::span<ExecutionInterval> to) const noexcept RCLRT_NONBLOCKING {
  std::size_t size = 0;
  for (std::size_t i = 0; i < capacity_ && size < to.size(); ++i) {
    const Place& place = places_[i];
    const std::uint64_t before = place.state.load(kAcquire);
    if (before == 0 || before % kPhases == kFilling) {
      continue;
    }
    ExecutionInterval& interval = to[size];
    interval.id = place.id.load(kAcquire);
    const std::string* const callback = place.callback.load(kAcquire);
    interval.group = place.group.load(kAcquire);
    interval.level = place.level.load(kAcquire);
    interval.priority = place.priority.load(kAcquire);
    interval.deadline_ns = place.deadline_ns.load(kAcquire);
    interval.start_ns = place.start_ns.load(kAcquire);
    interval.end_ns = place.end_ns.load(kAcquire);
    interval.cpu_ns = place.cpu_ns.load(kAcquire);
    // Compares only the ticket: running or ended, it is the same instance.
    if (place.state.load(std::memory_order_relaxed) / kPhases != before / kPhases) {
      continue;
    }
    if (interval.end_ns <= from_ns || interval.start_ns >= until_ns || interval.id == without) {
      continue;
    }
    interval.callback = *callback;
    interval.end_ns = std::min(interval.end_ns, until_ns);
    ++size;
  }
  return size;
}

}  // namespace rclrt::executor
