// SPDX-License-Identifier: Apache-2.0
// Detects the times in which the machine itself did not run the process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
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

/// Returns the options for probes that run beside executors. `cpus_of_executors` has the CPUs of
/// each executor; an empty list: that executor may use every CPU. The probes run on all of these
/// CPUs, one priority below the most urgent SCHED_FIFO priority.
RCLRT_RECORDER_EXPORT HostProbeOptions
probe_beside(std::span<const std::vector<int>> cpus_of_executors);

/// The stalls that the probes have recorded, and whether the host caused them.
struct HostStallReport {
  /// false: the probes had no real-time priority. Then other threads may have delayed them, and the
  /// stalls do not show that the host caused them.
  bool valid = false;
  std::string reason;  ///< why not valid; otherwise empty
  std::chrono::nanoseconds threshold{};
  std::vector<HostStall> stalls;  ///< ascending by start
  std::uint64_t lost = 0;         ///< stalls beyond the capacity
  LongTimes left_out_stalls{};    ///< of a run that streams: stalls that are not in `stalls`
  LongTimes left_out_waits{};     ///< ditto: in which the probes were ready, see HostStall
  std::string limit = {};         ///< of real-time threads, see realtime::realtime_limit; or empty

  /// Returns the stalls if the host caused them, otherwise none.
  std::span<const HostStall> attributable() const {
    return valid ? std::span(stalls) : std::span<const HostStall>{};
  }
};

/// Turns the wake-ups of one probe into stalls. Never allocates after construction. One thread
/// records and one thread takes what was recorded, at the same time if need be.
class RCLRT_RECORDER_EXPORT StallRecorder {
 public:
  /// Makes a recorder of stalls longer than `threshold_ns`. It has room for `capacity` of them that
  /// were not taken.
  RCLRT_SETUP StallRecorder(int cpu, std::int64_t threshold_ns, std::size_t capacity);

  /// Records a wake-up that came later than the threshold. It was expected at `expected_ns` and
  /// came at `actual_ns`. `waited_ns` is the part of that time during which the probe was ready to
  /// run, but had no CPU.
  void wake(std::int64_t expected_ns, std::int64_t actual_ns,
            std::int64_t waited_ns = 0) noexcept RCLRT_NONBLOCKING;

  /// Returns the stalls that were not taken, in the order of time.
  RCLRT_SETUP std::vector<HostStall> stalls() const;
  /// Returns them and makes room for new ones.
  RCLRT_SETUP std::vector<HostStall> take();
  /// Returns the number of stalls for which there was no room.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }  // a mere count

 private:
  int cpu_;
  std::int64_t threshold_ns_;
  std::vector<HostStall> stalls_;           // a ring
  std::atomic<std::uint64_t> recorded_{0};  // written by the recording thread
  std::atomic<std::uint64_t> taken_{0};     // written by the taking thread
  std::atomic<std::uint64_t> lost_{0};      // written by the recording thread
};

/// Returns the next time at which a probe that woke at `actual_ns` is to wake up: the first
/// `expected_ns` + n × `period_ns` that is after `actual_ns`.
RCLRT_RECORDER_EXPORT std::int64_t next_wake_ns(std::int64_t expected_ns, std::int64_t actual_ns,
                                                std::int64_t period_ns) noexcept RCLRT_NONBLOCKING;

/// Finds times in which the host did not run a CPU. On each CPU, a thread sleeps until an absolute
/// time in each period, and records how late it woke. Not thread-safe: one owner starts and stops
/// it.
class RCLRT_RECORDER_EXPORT HostProbe {
 public:
  /// Prepares a probe for each CPU and allocates its memory. Throws std::invalid_argument for a CPU
  /// that the process may not use, or for a period that is not above 0.
  RCLRT_SETUP explicit HostProbe(HostProbeOptions options);

  /// Stops the threads.
  ~HostProbe();

  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  /// Starts the threads. If real-time priority is refused, they run at normal priority. Call it
  /// only once. Throws std::system_error if a thread cannot be started at all.
  RCLRT_SETUP void start();

  /// Ends the threads, within about one period. May be called again.
  RCLRT_SETUP void stop() noexcept;

  /// Returns how often the probes have woken, all together. Thread-safe.
  std::uint64_t wakes() const noexcept { return wakes_.load(); }

  /// Returns the stalls since the last call, ascending by start, also while the probes run. One
  /// thread calls it. report() does not have them any more.
  RCLRT_SETUP std::vector<HostStall> take();

  /// Returns the recorded stalls that were not taken. Call it after stop().
  RCLRT_SETUP HostStallReport report() const;

  /// Returns the report without stalls, also while the probes run; call it after start().
  RCLRT_SETUP HostStallReport state() const;

 private:
  void run(StallRecorder& recorder) noexcept;

  HostProbeOptions options_;
  std::optional<std::string> not_realtime_;
  std::deque<StallRecorder> recorders_;  // they do not move
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> wakes_{0};
  std::vector<realtime::Thread> threads_;
};

}  // namespace rclrt::recorder
