// SPDX-License-Identifier: Apache-2.0
// The latest instances of a node, and since when the data counts that each works on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "rclrt/realtime/safety.hpp"

namespace rclrt_rclcpp {

/// A ring in memory that processes share, written and read by any thread of any of them, wait-free.
/// A message without a stamp is as old as the data of the instance that published it: the one that
/// ran when it was published.
///
/// Each place is a seqlock, as in the engine's InstanceHistory: `state` is a ticket and a phase.
/// `claim` takes a place by a compare-and-swap and passes over one whose instance still runs.
/// Fields are stored with release and loaded with acquire: a reader that sees a field of a later
/// instance also sees that the state is no longer the one it took.
///
/// Invariant: a place is claimed before the clock is read for its start. So of two instances of
/// one thread, or of two threads of which one preempts the other, the one that starts within the
/// other has the later ticket.
///
/// Another process may have written anything here: nothing that is read is used as an index
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
  /// The start is CLOCK_REALTIME, as in the messages that an instance publishes; the origin is
  /// what `start` was given.
  struct Instance {
    std::int64_t start_ns = 0;
    std::int64_t origin_ns = 0;
  };

  /// Takes a place for an instance that is about to start. Returns nullptr if the next places are
  /// all of instances that still run.
  Place* claim() noexcept RCLRT_NONBLOCKING;
  /// Lets the instance of a claimed place start.
  static void start(Place& place, std::int64_t start_ns,
                    std::int64_t origin_ns) noexcept RCLRT_NONBLOCKING;
  /// Lets it end.
  static void end(Place& place, std::int64_t end_ns) noexcept RCLRT_NONBLOCKING;

  /// Returns the instance that ran at `at_ns`, of several the one with the latest ticket. An
  /// instance that is written meanwhile may be missing, and so are those that `kPlaces` later ones
  /// have replaced.
  std::optional<Instance> find(std::int64_t at_ns) const noexcept RCLRT_NONBLOCKING;

  /// Asks for instances to be written until then, CLOCK_MONOTONIC.
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
