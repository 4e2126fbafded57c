// SPDX-License-Identifier: Apache-2.0
// Joins the traces of several hosts.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host_clocks.hpp"
#include "rclrt/recorder/host_times.hpp"
#include "traced_model.hpp"

namespace rclrt::trace {

/// Events have CLOCK_MONOTONIC, which NTP slews: ntpd and the kernel's clock discipline by up to
/// 500 millionths. That is more than quartz is wrong. chrony slews faster (maxslewrate, 83 333) if
/// a clock is far off, as after boot.
inline constexpr double kSlewedPpm = 500;

/// Options about the clocks of the hosts.
struct JoinOptions {
  std::vector<std::filesystem::path> clock_files;  ///< of rclrt clock --out
  double drift_ppm = kSlewedPpm;  ///< of each clock, slewed or not; see realtime::ClockOffset
};

/// Returns the clocks of the hosts that have traces below the directories; std::nullopt: all traces
/// are of one host. Reads the traces once. Adds to `notes` how exactly the clocks are known, and
/// which messages are not joined. Throws TraceError if the hosts cannot be joined, or if a file of
/// rclrt clock is wrong or not about them.
std::optional<HostClocks> join_hosts(std::span<const std::filesystem::path> directories,
                                     const JoinOptions& options, std::vector<std::string>& notes);

/// Returns the hosts of the results, with the error of their times.
recorder::HostTable host_table(const HostClocks& clocks, const TracedSystem& system,
                               const TracedModel& model);

}  // namespace rclrt::trace
