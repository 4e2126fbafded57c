// SPDX-License-Identifier: Apache-2.0
// The latest instances of a node, with the origin of the data that each one works on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "rclrt/realtime/safety.hpp"

namespace rclrt_rclcpp {

/// A ring in memory that processes share; any thread of any of them reads and writes it, wait-free.
/// A message without a stamp is as old as the data of the instance that published it: the instance
/// that ran at the publication time.
///
/// Each place is a seqlock, as in the engine's InstanceHistory: `state` is a ticket and a phase.
/// `claim` takes a place by a compare-and-swap and passes over places with a running instance.
/// Fields are stored with release and loaded with acquire: a reader that sees a field of a later
/// instance also sees that the state is no longer the one it read first.
///
/// Invariant: a place is claimed before the clock is read for its start. So if an instance starts
/// within another one, on the same thread or on a thread that preempts the other, it has the later
/// ticket.
///
/// Another process may have written anything here: no value that is read is used as an index
/// unchecked, and every loop has a bound.
class OriginRing {
 public:
  static constexpr std::size_t kPlaces = 256;

  struct Place {
    std::atomic<std::uint64_t> state{0};  // 0: never used
    std::atomic<std::int64_t> start_ns{0};
    std::atomic<std::int64_t> end_ns{0};
    std::atomic<std::int64_t> origin_ns{0};
  };
  /// An instance. The start is CLOCK_REALTIME, as in the messages that the instance publishes; the
  /// origin is the value that `start` got.
  struct Instance {
    std::int64_t start_ns = 0;
    std::int64_t origin_ns = 0;
  };

  /// Takes a place for an instance that is about to start. Returns nullptr if the next places all
  /// have instances that still run.
  Place* claim() noexcept RCLRT_NONBLOCKING;
  /// Records the start of the instance in a claimed place.
  static void start(Place& place, std::int64_t start_ns,
                    std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING;
  /// Records the end.
  static void end(Place& place, std::int64_t end_ns) noexcept RCLRT_NONBLOCKING;

  /// Returns the instance that ran at `at_ns`; among several, the one with the latest ticket. An
  /// instance that is written meanwhile may be missing. So may an instance that `kPlaces` later
  /// ones have replaced.
  std::optional<Instance> find(std::int64_t at_ns) const noexcept RCLRT_NONBLOCKING;

  /// Asks for instances to be written until `until_ns` (CLOCK_MONOTONIC).
  void want_until(std::int64_t until_ns) noexcept RCLRT_NONBLOCKING {
    wanted_until_ns_.store(until_ns, std::memory_order_relaxed);  // a hint, orders nothing
  }
  /// Returns whether instances that start now are to be written.
  bool is_wanted(std::int64_t now_ns) const noexcept RCLRT_NONBLOCKING {
    return now_ns < wanted_until_ns_.load(std::memory_order_relaxed);
  }

 private:
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                std::atomic<std::int64_t>::is_always_lock_free);

  std::atomic<std::int64_t> wanted_until_ns_{0};
  std::atomic<std::uint64_t> next_{0};  // the newest ticket; relaxed: only hands them out
  std::array<Place, kPlaces> places_{};
};

}  // namespace rclrt_rclcpp
