// SPDX-License-Identifier: Apache-2.0
// The releases of a periodic loop, and the policies for releases that it missed.
#pragma once

#include <cstdint>
#include <optional>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The reaction to a cycle that ends after the next release, or after several of them.
enum class OverrunPolicy {
  /// Every release runs. Late ones run back to back until the backlog is gone. None is missed.
  kCatchUp,
  /// If releases have passed when a cycle ends, they are missed, and the next release is the first
  /// one that has not passed. The phase does not change: `nominal = first + index × period` still
  /// holds.
  kSkip,
  /// If releases have passed when a cycle ends, they are missed. The next release is one period
  /// from now, and later ones follow one period apart, so the phase shifts. Indexes stay
  /// contiguous.
  kRebase,
};

/// The sequence of releases of one periodic loop. It reads no clock: the time is a parameter.
class RCLRT_REALTIME_EXPORT CyclicSchedule {
 public:
  /// Throws std::invalid_argument unless `period_ns` is positive.
  RCLRT_SETUP CyclicSchedule(std::int64_t period_ns, OverrunPolicy policy);

  /// Begins with index 0 at `first_ns`. If `first_ns` is earlier than `now_ns`, begins at the first
  /// `first_ns` + n × period that is not. Without `first_ns`, begins at `now_ns`. Times must not be
  /// negative. A release time that does not fit into 64 bits of nanoseconds means never.
  void start(std::int64_t now_ns,
             std::optional<std::int64_t> first_ns = std::nullopt) noexcept RCLRT_NONBLOCKING;

  std::uint64_t index() const noexcept RCLRT_NONBLOCKING { return index_; }
  std::int64_t nominal_ns() const noexcept RCLRT_NONBLOCKING { return nominal_ns_; }
  std::int64_t period_ns() const noexcept RCLRT_NONBLOCKING { return period_ns_; }

  /// The result of a cycle.
  struct Outcome {
    bool overrun;  ///< the cycle ended after the next release; ending exactly at it is no overrun
    std::uint64_t missed;  ///< releases between this one and the next that will not run
  };
  /// Ends the cycle of the current release at `finish_ns`, and advances to the next release.
  /// Whether releases count as missed depends only on the end of the cycle, not on whether it began
  /// late.
  Outcome finish(std::int64_t finish_ns) noexcept RCLRT_NONBLOCKING;

 private:
  std::int64_t period_ns_;
  OverrunPolicy policy_;
  std::uint64_t index_ = 0;
  std::int64_t nominal_ns_ = 0;
};

}  // namespace rclrt::realtime
