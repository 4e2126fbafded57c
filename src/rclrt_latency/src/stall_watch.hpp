// SPDX-License-Identifier: Apache-2.0
// Detects stalls of the machine during a measurement, by one of two methods.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gap.hpp"
#include "rclrt/recorder/host_probe.hpp"
#include "spin_watch.hpp"

namespace rclrt::latency {

/// The method by which stalls of the machine are detected.
enum class StallMethod {
  kNone,
  kProbe,  ///< a thread above the measured one that wakes now and then (recorder::HostProbe)
  kSpin,   ///< a thread below the measured one that never sleeps (SpinWatch)
};

/// Returns "none", "probe" or "spin".
const char* to_string(StallMethod method) noexcept;

/// The stalls that a watch has found.
struct StallFindings {
  bool valid = true;   ///< whether the stalls have a meaning
  std::string reason;  ///< why not; otherwise empty
  std::vector<recorder::HostStall> stalls;
  std::vector<Gap> undecided;  ///< kSpin: an interrupt's or the hardware's
  std::uint64_t lost = 0;      ///< stalls beyond the capacity
  /// kSpin: the watched part of the time, of the CPU with the smallest part.
  std::optional<double> watched{};
};

/// Watches CPUs from start() to finish(), once. Not thread-safe: one owner.
class StallWatch {
 public:
  StallWatch(StallMethod method, const std::vector<int>& cpus, std::chrono::nanoseconds threshold);

  /// Throws std::system_error when a thread cannot be started.
  void start();

  /// Stops watching.
  StallFindings finish();

 private:
  std::optional<recorder::HostProbe> probe_;
  std::vector<std::unique_ptr<SpinWatch>> watches_;
};

}  // namespace rclrt::latency
