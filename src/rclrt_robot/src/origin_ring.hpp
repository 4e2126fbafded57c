// SPDX-License-Identifier: Apache-2.0
// The latest instances of a node, with the origin of the data that each one works on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/seqlock_ring.hpp"

namespace rclrt_robot {

/// The latest instances of a node, and from when their data is, in memory that processes share. Any
/// thread of any of these processes reads and writes the ring, wait-free. A message without a stamp
/// is as old as the data of the instance that published it, which is the instance that was running
/// at the publication time.
///
/// Invariant: a place is claimed before the clock is read for its start. So if an instance starts
/// within another one, on the same thread or on a thread that preempts the other, it has the later
/// ticket.
///
/// Another process may have written anything here: see SeqlockRing.
class OriginRing {
 public:
  static constexpr std::size_t kPlaces = 256;

  /// An instance in the ring. `start_ns` is CLOCK_REALTIME, as in the messages that the instance
  /// publishes; `origin_ns` is the value that was passed to `start`.
  struct Instance {
    std::int64_t start_ns = 0;
    std::int64_t origin_ns = 0;
  };

 private:
  struct End {
    std::int64_t end_ns = INT64_MAX;
  };
  // `claim` passes over 16 places with running instances before it gives up.
  static constexpr rclrt::realtime::SeqlockRingShape kShape{.places = kPlaces, .tries = 16};
  using Ring = rclrt::realtime::SeqlockRing<Instance, End, kShape>;

 public:
  using Place = Ring::Place;

  /// Takes a place of the ring for an instance of a callback that is about to start. The oldest
  /// places are reused. Returns nullptr if the next 16 places all have instances that still run.
  Place* claim() noexcept RCLRT_NONBLOCKING { return ring_.claim(); }
  /// Records the start of the instance in a claimed place.
  static void start(Place& place, std::int64_t start_ns,
                    std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING {
    Ring::start(place, {start_ns, origin_ns}, End());
  }
  /// Records the end.
  static void end(Place& place, std::int64_t end_ns) noexcept RCLRT_NONBLOCKING {
    Ring::end(place, {end_ns});
  }

  /// Returns the instance that was running at `at_ns` (CLOCK_REALTIME); if there are several, the
  /// one with the latest ticket. std::nullopt: none is known. An instance that is written during
  /// the call may be missing, and so may one that `kPlaces` later instances have replaced.
  std::optional<Instance> find(std::int64_t at_ns) const noexcept RCLRT_NONBLOCKING;

  /// Asks for instances to be written until `until_ns` (CLOCK_MONOTONIC).
  void want_until(std::int64_t until_ns) noexcept RCLRT_NONBLOCKING {
    wanted_until_ns_.store(until_ns, std::memory_order_relaxed);  // a hint, orders nothing
  }
  /// Returns whether instances that start now are to be written.
  bool is_wanted(std::int64_t now_ns) const noexcept RCLRT_NONBLOCKING {
    return now_ns < wanted_until_ns_.load(std::memory_order_relaxed);  // as above
  }

 private:
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);

  std::atomic<std::int64_t> wanted_until_ns_{0};
  Ring ring_;
};

}  // namespace rclrt_robot
