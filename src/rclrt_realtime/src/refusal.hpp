// SPDX-License-Identifier: Apache-2.0
// Why the kernel refuses a scheduling request: the facts, and the conclusions from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::realtime {

/// The facts that decide whether a thread gets a real-time policy.
struct SchedulingPermission {
  bool root = false;        ///< effective user 0
  bool capability = false;  ///< CAP_SYS_NICE, see has_capability
  int rtprio = 0;           ///< RLIMIT_RTPRIO now, at most 99
  int rtprio_hard = 0;      ///< the value to which the process may raise it
  int permitted = 0;        ///< a lower priority that the kernel has just permitted; 0: none
  /// The file with the real-time budget of the control group; empty: there is none.
  std::string budget_file;
  std::optional<std::int64_t> budget_us;
  std::optional<std::int64_t> global_us;  ///< kernel.sched_rt_runtime_us
  std::string unified_group;              ///< the group's path in version 2; empty: unknown
  bool seccomp = false;                   ///< a filter of system calls is active
};

/// Returns the path of the file with the real-time budget of this process's control group (version
/// 1). Finds it below `root` through /proc/self/cgroup and /proc/self/mountinfo. Empty if there is
/// none.
std::filesystem::path realtime_budget_file(const std::filesystem::path& root);

/// Reads the limits and capabilities of this process; `root` is / except in tests. `wanted` was
/// refused: if a lower priority is within the limit, this function tries whether the kernel permits
/// it.
SchedulingPermission read_permission(const Scheduling& wanted,
                                     const std::filesystem::path& root = "/");

/// Returns the result of realtime_limit(); `root` is / except in tests.
std::optional<std::string> realtime_limit_below(const std::filesystem::path& root);

/// Returns the change that permits `wanted`, which the kernel refused with `error` (an errno).
/// Empty if no such change is known.
std::string explain(const Scheduling& wanted, int error, const SchedulingPermission& permission);

/// Starts and joins a thread at `priority` of SCHED_FIFO or SCHED_RR. Returns 0 or the error.
int try_realtime_thread(Policy policy, int priority);

}  // namespace rclrt::realtime
