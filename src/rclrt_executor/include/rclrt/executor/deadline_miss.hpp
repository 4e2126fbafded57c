// SPDX-License-Identifier: Apache-2.0
// The report on an instance that did not end by its deadline.
#pragma once

#include <cstdint>

#include "rclrt/executor/blame.hpp"
#include "rclrt/executor/export.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// An instance that ended after its deadline, or releases that were lost before one that ended.
/// A miss is found at the end of an instance. An instance that never ends is not reported. Drops
/// are reported with the next instance of the callback that ends.
struct DeadlineMiss {
  const Callback* callback = nullptr;  ///< valid until the handler returns
  InstanceInfo info;                   ///< the instance that has just ended
  std::int64_t deadline_ns = 0;        ///< relative to `info.counts_from_ns()`
  std::int64_t end_ns = 0;
  std::uint64_t dropped = 0;  ///< releases dropped since the last report, each a miss of its own
  Blame blame;                ///< for the time from `info.counts_from_ns()` to the end

  /// Returns how long after its deadline the instance ended; not positive when only earlier
  /// releases were dropped.
  std::int64_t late_ns() const noexcept RCLRT_NONBLOCKING {
    return end_ns - info.counts_from_ns() - deadline_ns;
  }
};

/// Receives misses; see ExecutorOptions::on_miss.
class RCLRT_EXECUTOR_EXPORT MissHandler {
 public:
  virtual ~MissHandler() = default;
  /// Takes the report, on the thread that ran the instance. The instance has not left its group
  /// yet, so the handler must return quickly. Several threads may call it at the same time. The
  /// names in `miss` live as long as the executor.
  virtual void missed(const DeadlineMiss& miss) noexcept RCLRT_NONBLOCKING = 0;
};

}  // namespace rclrt::executor
