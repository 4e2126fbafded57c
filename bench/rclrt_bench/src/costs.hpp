// SPDX-License-Identifier: Apache-2.0
// What the process has spent, as far as it can be told.
#pragma once

#include <atomic>
#include <cstdint>

namespace rclrt::bench {

struct Costs {
  std::uint64_t allocations = 0;   ///< malloc and its like, new included; every library's
  std::uint64_t system_calls = 0;  ///< 0 unless a tracer counts them
  std::int64_t cpu_ns = 0;         ///< CPU time of all threads
};

/// What this process has spent since its start. Thread-safe; two system calls at most.
Costs read_costs() noexcept;

/// Sanitizers have their own malloc: nothing is counted then.
bool counts_allocations() noexcept;

/// Where a tracer counts this process's system calls, in memory that both see; nullptr: nowhere.
extern std::atomic<std::uint64_t>* traced_system_calls;

}  // namespace rclrt::bench
