// SPDX-License-Identifier: Apache-2.0
// The report on an instance that did not end by its deadline.
#pragma once

#include <cstdint>

#include "rclrt/executor/blame.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Describes a missed deadline: an instance that ended after its deadline, or earlier releases of
/// the callback that were dropped. A miss is found when an instance ends, so an instance that never
/// ends is not reported. Drops are reported with the next instance of the same callback that ends.
struct DeadlineMiss {
  const Callback* callback = nullptr;  ///< valid until the handler returns
  InstanceInfo info;                   ///< the instance that has just ended
  std::int64_t deadline_ns = 0;        ///< relative to `info.counts_from_ns()`
  std::int64_t end_ns = 0;
  std::uint64_t dropped = 0;  ///< releases dropped since the last report, each a miss of its own
  Blame blame;                ///< for the time from `info.counts_from_ns()` to the end

  /// Returns by how many nanoseconds the instance ended after its deadline. Not positive if the
  /// instance was in time, and only earlier releases were dropped.
  std::int64_t late_ns() const noexcept RCLRT_NONBLOCKING {
    return end_ns - info.counts_from_ns() - deadline_ns;
  }
};

/// Receives misses; see ExecutorOptions::on_miss.
class RCLRT_EXECUTOR_EXPORT MissHandler {
 public:
  virtual ~MissHandler() = default;
  /// Receives the report of a miss, on the thread that ran the instance. That thread still occupies
  /// the instance's callback group, so the function must return quickly. Several threads may call
  /// it at the same time. The names in `miss` live as long as the executor.
  virtual void missed(const DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING = 0;
};

}  // namespace rclrt::executor
