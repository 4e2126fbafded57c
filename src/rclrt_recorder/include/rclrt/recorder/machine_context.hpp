// SPDX-License-Identifier: Apache-2.0
// The machine that a run was measured on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// Properties of the machine that affect a measurement: kernel and CPUs.
struct MachineContext {
  std::string kernel;  ///< release and version, as `uname -rv` says
  int cpus = 0;        ///< online
  std::string cpu_model;
  bool preempt_rt = false;
};

/// Returns the properties of this machine now.
RCLRT_RECORDER_EXPORT MachineContext read_machine_context();

/// Returns the ROS distribution that this process is sourced for; "unknown" if it is not set.
RCLRT_RECORDER_EXPORT std::string ros_distro();

/// Returns whether all that this process has in memory is locked there (mlockall).
RCLRT_RECORDER_EXPORT bool memory_is_locked();

/// Returns the CPU time in milliseconds that the host has taken from all CPUs of this (virtual)
/// machine since it started. Returns std::nullopt if /proc/stat has no such value.
RCLRT_RECORDER_EXPORT std::optional<double> read_steal_ms();

/// Returns the time as "2026-01-02T03:04:05Z".
RCLRT_RECORDER_EXPORT std::string utc_now();

/// Returns the CPU's name from the text of /proc/cpuinfo; empty when it has none.
RCLRT_RECORDER_EXPORT std::string parse_cpu_model(std::string_view cpuinfo);

/// Returns the steal column of all CPUs together from the text of /proc/stat, in clock ticks.
RCLRT_RECORDER_EXPORT std::optional<std::uint64_t> parse_steal_ticks(std::string_view stat);

/// Returns whether the kernel is PREEMPT_RT: if `realtime_file`, the text of /sys/kernel/realtime
/// (empty if that file does not exist), is 1, or if `kernel_version`, the version of uname(2),
/// names PREEMPT_RT.
RCLRT_RECORDER_EXPORT bool is_preempt_rt(std::string_view realtime_file,
                                         std::string_view kernel_version);

}  // namespace rclrt::recorder
