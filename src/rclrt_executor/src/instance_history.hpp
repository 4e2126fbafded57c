// SPDX-License-Identifier: Apache-2.0
// The latest instances of an executor: the running ones, and as many ended ones as fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rclrt/executor/blame.hpp"
#include "rclrt/realtime/seqlock_ring.hpp"

namespace rclrt::executor {

/// The instances of an executor that ran last, in a ring of a fixed size. Any thread writes and
/// reads it, wait-free. An instance has its place from its start on. The place of an instance that
/// is still running is skipped, so many short instances do not overwrite a long one.
class InstanceHistory {
  struct Start {
    std::uint64_t id;
    const std::string* callback;
    const void* group;
    int level;
    int priority;
    std::int64_t deadline_ns;
    std::int64_t start_ns;
  };
  struct End {
    std::int64_t end_ns;
    std::int64_t cpu_ns;
  };
  // Up to 64 places with running instances are skipped before an instance is not recorded.
  static constexpr realtime::SeqlockRingShape kShape{.alignment = realtime::kCacheLine,
                                                     .tries = 64};
  using Ring = realtime::SeqlockRing<Start, End, kShape>;

 public:
  using Place = Ring::Place;

  /// Throws std::invalid_argument when `capacity` is 0.
  RCLRT_SETUP explicit InstanceHistory(std::size_t capacity);

  /// Records the start of an instance. All of `interval` but its end is copied. `callback` is its
  /// name and must outlive the history. Returns nullptr if all places that were tried have running
  /// instances: the instance is then not recorded.
  Place* begin(const ExecutionInterval& interval,
               const std::string& callback) noexcept RCLRT_NONBLOCKING;
  /// Records the end of the instance.
  static void end(Place& place, std::int64_t end_ns,
                  std::int64_t cpu_ns) noexcept RCLRT_NONBLOCKING {
    // A reader may see both values, one of them or none; each combination is valid for an instance
    // that ends now.
    Ring::end(place, {end_ns, cpu_ns});
  }

  /// Copies the instances that ran at some time from `from_ns` to `until_ns` into `to`, except the
  /// instance with the id `without`. An instance that is still running ends at `until_ns` in the
  /// copy. An instance that is written meanwhile may be missing. Returns the number of copied
  /// instances.
  std::size_t copy(std::int64_t from_ns, std::int64_t until_ns, std::uint64_t without,
                   std::span<ExecutionInterval> to) const noexcept RCLRT_NONBLOCKING;

  std::size_t capacity() const noexcept RCLRT_NONBLOCKING { return ring_.size(); }

 private:
  Ring ring_;
};

}  // namespace rclrt::executor
