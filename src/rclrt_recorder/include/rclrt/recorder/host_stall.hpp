// SPDX-License-Identifier: Apache-2.0
// Times in which the machine itself did not run the process.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// A stall of a CPU: a probe on `cpu` should have run at `start_ns`, and ran only at `end_ns`
/// (CLOCK_MONOTONIC).
struct HostStall {
  int cpu = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  /// The part of the stall during which the probe was ready to run, but did not get the CPU. The
  /// host did not cause this part: the kernel did (RT throttling), or a thread above the probe.
  std::int64_t waited_ns = 0;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  /// Returns for how long the machine did not run the probe, without the time it waited.
  std::int64_t host_ns() const { return end_ns - start_ns - waited_ns; }

  bool operator==(const HostStall&) const = default;
};

/// Number, sum and maximum of the times above the threshold of the probes.
struct LongTimes {
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t worst_ns = 0;

  /// Adds a time if it is above the threshold.
  void add(std::int64_t time_ns, std::chrono::nanoseconds threshold) {
    if (time_ns > threshold.count()) {
      ++count;
      total_ns += time_ns;
      worst_ns = std::max(worst_ns, time_ns);
    }
  }
};

/// The times in which the host stalled a set of CPUs, merged: a time in which several CPUs stalled
/// counts once.
class RCLRT_RECORDER_EXPORT StallTimeline {
 public:
  /// Makes the timeline from stalls in any order; `cpus`: std::nullopt means every CPU.
  StallTimeline(std::span<const HostStall> stalls, const std::optional<std::set<int>>& cpus);

  /// Returns how much of [start_ns, end_ns] was stalled.
  std::int64_t stalled_ns(std::int64_t start_ns, std::int64_t end_ns) const;

 private:
  struct Interval {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };
  std::vector<Interval> intervals_;  // ascending, disjoint
};

}  // namespace rclrt::recorder
