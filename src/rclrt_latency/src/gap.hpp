// SPDX-License-Identifier: Apache-2.0
// Where the time went between two readings of a thread that never sleeps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rclrt/recorder/host_stall.hpp"

namespace rclrt::latency {

/// What a spinning thread reads.
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
  std::int64_t stolen_ns = 0;  ///< the hypervisor told the kernel that it took the CPU away
  std::int64_t silent_ns = 0;  ///< the thread had the CPU and did not run: an interrupt, an SMI, or
                               ///< a host that does not tell

  std::int64_t unexplained_by_threads_ns() const { return stolen_ns + silent_ns; }

  bool operator==(const Gap&) const = default;
};

/// Returns how the time from `before` to `after` divides.
Gap divide(int cpu, const Reading& before, const Reading& after) noexcept;

/// What the gaps of several CPUs, watched at the same time, amount to.
struct JudgedGaps {
  /// Not the kernel's doing: stolen, or silent on every CPU at once, as an SMI and a paused virtual
  /// machine are and interrupts are not. Ascending by start.
  std::vector<recorder::HostStall> stalls;
  std::vector<Gap> undecided;  ///< silent on one CPU: its interrupts, or its hardware
};

/// Judges all gaps of `cpus` CPUs. A gap counts as silent everywhere if at least half of it was
/// silent on each of the others, which must be one at least.
JudgedGaps judge(std::span<const Gap> gaps, int cpus);

}  // namespace rclrt::latency
