// SPDX-License-Identifier: Apache-2.0
// The costs of the process, as far as they can be measured.
#pragma once

#include <atomic>
#include <cstdint>

namespace rclrt::bench {

struct Costs {
  std::uint64_t allocations = 0;   ///< malloc and similar functions, new included, of all libraries
  std::uint64_t system_calls = 0;  ///< 0 unless a tracer counts them
  std::int64_t cpu_ns = 0;         ///< CPU time of all threads
};

/// Returns the costs of this process since its start. Thread-safe; makes at most two system calls.
Costs read_costs() noexcept;

/// Returns whether allocations are counted: not with sanitizers, which have their own malloc.
bool counts_allocations() noexcept;

/// A tracer's counter of this process's system calls, in shared memory; nullptr: no tracer.
extern std::atomic<std::uint64_t>* traced_system_calls;

}  // namespace rclrt::bench
