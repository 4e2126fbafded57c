// SPDX-License-Identifier: Apache-2.0
// The sequence of nominal releases of one timer.
#pragma once

#include <cstdint>

#include "rclrt/executor/export.hpp"
#include "rclrt/realtime/cyclic_schedule.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor::detail {

/// Computes the next release time of a timer. The caller passes the current time; the schedule
/// reads no clock. A release time that does not fit into 64 bits of nanoseconds means never. Not
/// thread-safe.
class RCLRT_EXECUTOR_EXPORT TimerSchedule {
 public:
  /// Throws std::invalid_argument unless `period_ns` is positive.
  RCLRT_SETUP explicit TimerSchedule(std::int64_t period_ns);

  /// Sets the next release to `epoch_ns` + `offset_ns`.
  void start(std::int64_t epoch_ns, std::int64_t offset_ns) noexcept RCLRT_NONBLOCKING;
  std::int64_t period_ns() const noexcept RCLRT_NONBLOCKING { return period_ns_; }
  /// Returns the nominal time of the next release.
  std::int64_t next_ns() const noexcept RCLRT_NONBLOCKING { return next_ns_; }

  /// One release taken off the schedule.
  struct Release {
    std::int64_t nominal_ns;
    std::uint64_t skipped;  ///< releases after this one that will never be instances
  };
  /// Takes the next release, which must be due: `next_ns() <= now_ns`.
  Release take(std::int64_t now_ns, realtime::OverrunPolicy policy) noexcept RCLRT_NONBLOCKING;

  /// Skips every release that is due and returns their number.
  std::uint64_t skip_due(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING;

 private:
  const std::int64_t period_ns_;
  std::int64_t next_ns_ = 0;
};

}  // namespace rclrt::executor::detail
