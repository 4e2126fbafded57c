// SPDX-License-Identifier: Apache-2.0
// The causes of the time between two readings of a thread that never sleeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rclrt/recorder/host_stall.hpp"

namespace rclrt::latency {

/// One reading of a spinning thread.
struct Reading {
  std::int64_t wall_ns = 0;       ///< CLOCK_MONOTONIC
  std::int64_t cpu_ns = 0;        ///< CPU time of the thread; stolen time is not in it
  std::int64_t run_delay_ns = 0;  ///< how long it was ready without a CPU (schedstat)
};

/// The time between two readings of a thread on `cpu`. The three parts add up to it.
struct Gap {
  int cpu = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t others_ns = 0;  ///< another thread had the CPU
  std::int64_t stolen_ns = 0;  ///< the hypervisor reported to the kernel that it took the CPU away
  /// The part in which the thread had the CPU according to the kernel, but did not run: an
  /// interrupt, an SMI, or a host that does not report that it took the CPU.
  std::int64_t silent_ns = 0;

  std::int64_t unexplained_by_threads_ns() const { return stolen_ns + silent_ns; }

  bool operator==(const Gap&) const = default;
};

/// Returns the parts of the time from `before` to `after`.
Gap divide(int cpu, const Reading& before, const Reading& after) noexcept;

/// The result of the gaps of several CPUs that were watched at the same time.
struct JudgedGaps {
  /// The gaps that the kernel did not cause, sorted by their start: stolen by the hypervisor, or
  /// silent on every CPU at the same time. (An SMI and a paused virtual machine are silent on every
  /// CPU, interrupts are not.)
  std::vector<recorder::HostStall> stalls;
  std::vector<Gap> undecided;  ///< silent on one CPU: its interrupts, or its hardware
};

/// Sorts the gaps of `cpus` CPUs into stalls and undecided ones. A gap counts as silent on every
/// CPU if each of the other CPUs was silent for at least half of it. `cpus` must be at least 2 for
/// that.
JudgedGaps judge(std::span<const Gap> gaps, int cpus);

}  // namespace rclrt::latency
