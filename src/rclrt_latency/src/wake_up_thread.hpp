// SPDX-License-Identifier: Apache-2.0
// A thread that repeatedly sleeps until an absolute time and records how late it wakes.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "late_samples.hpp"
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/histogram.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/spsc_queue.hpp"
#include "rclrt/realtime/stop_flag.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace rclrt::latency {

/// Where a thread's wake-ups are traced, and when it requests a dump.
struct BreakPoint {
  std::int64_t above_ns = 0;
  realtime::Tracer& tracer;
  realtime::FlightRecorder& recorder;
};

/// Options of a thread.
struct WakeUpOptions {
  std::string name;
  realtime::Scheduling scheduling;
  std::int64_t first_ns = 0;  ///< time of the first wake-up
  std::int64_t interval_ns = 0;
  std::uint64_t loops = 0;  ///< 0: until it is stopped
};

/// Measures from construction to stop(). Not movable; one owner.
class WakeUpThread {
 public:
  /// Starts the thread. A sample above the limit of `break_point` raises `stop_all`; nullptr: there
  /// is no limit. Both objects must outlive this one. Throws std::system_error with cause and fix.
  WakeUpThread(WakeUpOptions options, realtime::StopFlag& stop_all, const BreakPoint* break_point);

  /// Ends the thread within about one interval. May be called again.
  void stop() noexcept;

  /// Returns whether it has made all its loops or was stopped. Thread-safe.
  bool finished() const noexcept { return finished_.load(); }

  /// Returns the records so far. Thread-safe.
  const realtime::Histogram& histogram() const noexcept { return histogram_; }

  /// Takes a sample that was not taken yet. One thread.
  bool try_take(Sample& sample) noexcept { return samples_.try_pop(sample); }
  /// Returns the number of samples that were not taken in time. Thread-safe.
  std::uint64_t dropped() const noexcept { return dropped_.load(); }
  /// Returns the number of wake-ups left out because the thread woke after them. Thread-safe.
  std::uint64_t missed() const noexcept { return missed_.load(); }
  std::int64_t last_ns() const noexcept { return last_ns_.load(); }

  /// Returns the sample above the break point. Call it after stop().
  const std::optional<Sample>& broken() const noexcept { return broken_; }

 private:
  void run(const realtime::StopFlag& stop) noexcept;
  void record(const Sample& sample) noexcept;

  WakeUpOptions options_;
  realtime::StopFlag& stop_all_;
  const BreakPoint* break_point_;
  std::optional<realtime::ThreadTracer> trace_;
  realtime::TraceName slice_{};
  realtime::Histogram histogram_;
  realtime::SpscQueue<Sample> samples_;
  std::optional<Sample> broken_;
  // Independent counts.
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::int64_t> last_ns_{0};
  std::atomic<bool> finished_{false};
  realtime::Thread thread_;  // last: it uses everything above
};

}  // namespace rclrt::latency
