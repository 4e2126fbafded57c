// SPDX-License-Identifier: Apache-2.0
// The settings of a measurement.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"
#include "stall_watch.hpp"

namespace rclrt::latency {

/// How to measure. The defaults are those of `cyclictest -m -S -p80 -i1000`, for ten seconds.
struct Settings {
  std::vector<realtime::Policy> policies{realtime::Policy::kFifo};  ///< in turn, in each round
  int priority = 80;                                                ///< of FIFO and RR
  std::vector<int> cpus;                                            ///< empty: all that are allowed
  std::chrono::nanoseconds interval = std::chrono::milliseconds(1);
  std::chrono::nanoseconds duration = std::chrono::seconds(10);  ///< of each policy, all rounds
  std::uint64_t loops = 0;  ///< of each thread in each round, instead of `duration`; 0: not limited
  int rounds = 1;
  StallMethod stalls = StallMethod::kProbe;
  std::optional<std::chrono::nanoseconds> stall_threshold;  ///< none: that of the method
  bool stress = false;
  bool keep_cpus_awake = true;  ///< through /dev/cpu_dma_latency
  std::optional<std::chrono::nanoseconds> break_above;
  std::filesystem::path dump_directory = ".";
  std::filesystem::path histogram_log;  ///< empty: none
  bool live = false;                    ///< a line on standard error each second

  std::chrono::nanoseconds threshold() const {
    const std::chrono::microseconds usual(stalls == StallMethod::kSpin ? 50 : 200);
    return stall_threshold.value_or(usual);
  }
};

/// Returns the policy's name on the command line: "other", "fifo", "rr" or "deadline".
const char* option_of(realtime::Policy policy) noexcept;

}  // namespace rclrt::latency
