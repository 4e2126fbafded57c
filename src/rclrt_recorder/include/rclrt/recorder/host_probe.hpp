// SPDX-License-Identifier: Apache-2.0
// Detects the times in which the machine itself did not run the process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rclrt/realtime/safety.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/recorder/export.hpp"
#include "rclrt/recorder/host_stall.hpp"

namespace rclrt::recorder {

/// CPUs and period of the probes.
struct HostProbeOptions {
  std::vector<int> cpus;  ///< one probe each; empty: every CPU the process may use
  int priority = 99;      ///< SCHED_FIFO, above every measured thread
  std::chrono::nanoseconds period = std::chrono::milliseconds(1);
  std::chrono::nanoseconds threshold = std::chrono::microseconds(200);
  std::size_t capacity = 8192;  ///< stalls kept per CPU; later ones are counted only
};

/// Returns options for probes beside executors, given the CPUs of each executor (none: it may use
/// every CPU). The probes run on these CPUs, one step below the most urgent priority.
RCLRT_RECORDER_EXPORT HostProbeOptions
probe_beside(std::span<const std::vector<int>> cpus_of_executors);

/// The stalls that the probes have recorded, and whether the host caused them.
struct HostStallReport {
  /// False if the probes had no real-time priority: then any thread may have delayed them, and the
  /// stalls prove nothing about the host.
  bool valid = false;
  std::string reason;  ///< why not valid; otherwise empty
  std::chrono::nanoseconds threshold{};
  std::vector<HostStall> stalls;  ///< ascending by start
  std::uint64_t lost = 0;         ///< stalls beyond the capacity
  std::string limit = {};         ///< of real-time threads, see realtime::realtime_limit; or empty

  /// Returns the stalls if the host caused them, otherwise none.
  std::span<const HostStall> attributable() const {
    return valid ? std::span(stalls) : std::span<const HostStall>{};
  }
};

/// Turns the wake-ups of one probe into stalls. Never allocates after construction.
class RCLRT_RECORDER_EXPORT StallRecorder {
 public:
  /// Makes a recorder of stalls longer than `threshold_ns`, of which it keeps `capacity`.
  RCLRT_SETUP StallRecorder(int cpu, std::int64_t threshold_ns, std::size_t capacity);

  /// Records a wake-up that came later than the threshold: it was expected at `expected_ns` and
  /// came at `actual_ns`. The probe was ready for `waited_ns` of that time.
  void wake(std::int64_t expected_ns, std::int64_t actual_ns,
            std::int64_t waited_ns = 0) noexcept RCLRT_NONBLOCKING;

  std::span<const HostStall> stalls() const { return {stalls_.data(), size_}; }
  std::uint64_t lost() const { return lost_; }

 private:
  int cpu_;
  std::int64_t threshold_ns_;
  std::vector<HostStall> stalls_;
  std::size_t size_ = 0;
  std::uint64_t lost_ = 0;
};

/// Returns the next wake-up of a probe that woke at `actual_ns`: the first instant after it on the
/// grid of `expected_ns` and `period_ns`.
RCLRT_RECORDER_EXPORT std::int64_t next_wake_ns(std::int64_t expected_ns, std::int64_t actual_ns,
                                                std::int64_t period_ns) noexcept RCLRT_NONBLOCKING;

/// One thread per CPU sleeps until an absolute time each period and records how late it woke. Not
/// thread-safe: one owner starts and stops it.
class RCLRT_RECORDER_EXPORT HostProbe {
 public:
  /// Allocates. Throws std::invalid_argument for a CPU that the process may not use, or a period
  /// that is not above 0.
  RCLRT_SETUP explicit HostProbe(HostProbeOptions options);

  /// Stops the threads.
  ~HostProbe();

  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  /// Starts the threads, at normal priority if real-time priority is refused. Call it once. Throws
  /// std::system_error if a thread cannot be started at all.
  RCLRT_SETUP void start();

  /// Ends the threads, within about one period. May be called again.
  RCLRT_SETUP void stop() noexcept;

  /// Returns how often the probes have woken, all together. Thread-safe.
  std::uint64_t wakes() const noexcept { return wakes_.load(); }

  /// Returns the recorded stalls. Call it after stop().
  RCLRT_SETUP HostStallReport report() const;

 private:
  void run(StallRecorder& recorder) noexcept;

  HostProbeOptions options_;
  std::optional<std::string> not_realtime_;
  std::vector<StallRecorder> recorders_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> wakes_{0};
  std::vector<realtime::Thread> threads_;
};

}  // namespace rclrt::recorder
