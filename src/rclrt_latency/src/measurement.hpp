// SPDX-License-Identifier: Apache-2.0
// Measures wake-ups under one or more policies in turn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "late_samples.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "settings.hpp"

namespace rclrt::latency {

/// The stalls of one CPU.
struct StallCount {
  std::uint64_t count = 0;
  std::int64_t largest_ns = 0;
  std::int64_t total_ns = 0;

  void add(std::int64_t duration_ns);
};

/// The wake-ups of one thread, all rounds together.
struct ThreadSeries {
  std::optional<int> cpu;  ///< none: it may use every CPU (SCHED_DEADLINE)
  realtime::Histogram all{};
  realtime::Histogram disturbed{};  ///< those of `all` that overlap a stall
  std::uint64_t missed = 0;         ///< wake-ups left out because the thread woke after them
  std::uint64_t dropped = 0;        ///< samples that a stall may have delayed; it is not known
  std::int64_t floor_ns = 0;        ///< samples less late than this count as undisturbed
  StallCount stalls;
  StallCount undecided;
};

/// The results of one policy.
struct Series {
  realtime::Scheduling scheduling;  ///< without CPUs
  std::vector<ThreadSeries> threads;
};

/// The wake-up above the threshold.
struct Break {
  realtime::Policy policy{};
  std::optional<int> cpu;
  Sample sample;
  bool disturbed = false;      ///< a stall of the machine delayed it
  std::filesystem::path dump;  ///< empty: it could not be written
  std::string dump_error;
};

struct Result {
  std::vector<int> cpus;
  std::vector<Series> series;
  std::vector<std::string> notes;  ///< what the machine did not permit
  /// The time in which the probe was ready to run, but the kernel gave it no CPU. Such times do not
  /// count as stalls of the machine.
  StallCount held_back;
  bool stalls_valid = true;
  std::string stalls_reason;
  std::uint64_t stalls_lost = 0;
  std::optional<double> watched;      ///< see StallFindings
  std::optional<std::uint64_t> smis;  ///< interrupts of the firmware; none: it cannot be read
  std::optional<Break> broken;
  bool interrupted = false;
};

/// The kernel does not permit a policy; the message names cause and fix.
class NotPermitted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Measures until all rounds have ended, a wake-up exceeds the threshold, or `interrupt` is raised.
/// Throws NotPermitted if the kernel refuses the scheduling, std::invalid_argument for a CPU that
/// the process may not use, and std::runtime_error.
Result measure(const Settings& settings, const realtime::StopFlag& interrupt);

}  // namespace rclrt::latency
