// SPDX-License-Identifier: Apache-2.0
// When a periodic loop is released, and what becomes of releases whose time it missed.
#pragma once

#include <cstdint>
#include <optional>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// What happens when a cycle ends after the next release, or after several of them.
enum class OverrunPolicy {
  /// Every release runs, late ones back to back until the backlog is gone. None is missed.
  kCatchUp,
  /// Releases whose time has passed are missed; the next one is the first that has not passed. The
  /// phase stays, and so does `nominal = first + index × period`.
  kSkip,
  /// Releases whose time has passed are missed; the next one is one period from now, and so are
  /// those after it: the phase shifts. Indexes stay contiguous.
  kRebase,
};

/// The sequence of releases of one periodic loop. Pure: time comes in as a parameter.
class RCLRT_REALTIME_EXPORT CyclicSchedule {
 public:
  /// Throws std::invalid_argument unless `period_ns` is positive.
  RCLRT_SETUP CyclicSchedule(std::int64_t period_ns, OverrunPolicy policy);

  /// Begins with index 0 at `first_ns`; when that has passed, at the first of `first_ns` + n ×
  /// period that has not; without it, now. Times are not negative; those beyond the end of the
  /// clock mean never.
  void start(std::int64_t now_ns,
             std::optional<std::int64_t> first_ns = std::nullopt) noexcept RCLRT_NONBLOCKING;

  std::uint64_t index() const noexcept RCLRT_NONBLOCKING { return index_; }
  std::int64_t nominal_ns() const noexcept RCLRT_NONBLOCKING { return nominal_ns_; }
  std::int64_t period_ns() const noexcept RCLRT_NONBLOCKING { return period_ns_; }

  /// What came of a cycle.
  struct Outcome {
    bool overrun;  ///< the cycle ended after the next release; at the very time is not after
    std::uint64_t missed;  ///< releases between this one and the next that will not run
  };
  /// Ends the cycle of this release at `finish_ns` and goes on to the next one. A cycle that
  /// also began late is treated no differently: the policy looks at its end alone.
  Outcome finish(std::int64_t finish_ns) noexcept RCLRT_NONBLOCKING;

 private:
  std::int64_t period_ns_;
  OverrunPolicy policy_;
  std::uint64_t index_ = 0;
  std::int64_t nominal_ns_ = 0;
};

}  // namespace rclrt::realtime
