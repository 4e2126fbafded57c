// SPDX-License-Identifier: Apache-2.0
// The time of a run: CLOCK_MONOTONIC of the host that coordinates it.
#pragma once

#include <atomic>
#include <cstdint>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::runner {

/// Converts times of this host to the time of the run. On the host that coordinates the run, both
/// are CLOCK_MONOTONIC. On another host, the difference is measured, and follows the drift of the
/// two clocks during the run. Messages between callbacks have times of the run. Thread-safe.
class RunTime {
 public:
  /// Makes the time of a run on one host.
  RunTime() = default;
  /// Makes that of the host that coordinates several.
  static RunTime of_coordinator() noexcept {
    RunTime result;
    result.tolerance_ns_ = kTolerance_ns;
    return result;
  }
  /// Makes that of another host. `difference_ns`: the time of the run less CLOCK_MONOTONIC; may
  /// change at any time and must outlive this object.
  explicit RunTime(const std::atomic<std::int64_t>& difference_ns)
      : difference_ns_(&difference_ns), tolerance_ns_(kTolerance_ns) {}

  /// Returns a time of CLOCK_MONOTONIC as time of the run.
  std::int64_t of(std::int64_t monotonic_ns) const noexcept {
    return monotonic_ns + difference_ns();
  }
  /// Returns the time of the run, now.
  std::int64_t now() const noexcept { return of(realtime::monotonic_now_ns()); }
  /// Returns a time of the run as CLOCK_MONOTONIC.
  std::int64_t to_monotonic(std::int64_t run_ns) const noexcept { return run_ns - difference_ns(); }

  /// Returns whether this host's clock is not that of the run.
  bool is_remote() const noexcept { return difference_ns_ != nullptr; }
  /// Returns by how much times of two hosts may contradict each other; 0 for one host.
  std::int64_t tolerance_ns() const noexcept { return tolerance_ns_; }

 private:
  static constexpr std::int64_t kTolerance_ns = 1'000'000'000;

  std::int64_t difference_ns() const noexcept {
    // Relaxed: the number alone is read, and each value of it is a valid one.
    return difference_ns_ == nullptr ? 0 : difference_ns_->load(std::memory_order_relaxed);
  }

  const std::atomic<std::int64_t>* difference_ns_ = nullptr;
  std::int64_t tolerance_ns_ = 0;
};

/// Converts the times of an instance that the executor took. Those of messages are times of the run
/// already.
inline void to_run_time(recorder::InstanceRecord& record, const RunTime& time) noexcept {
  const std::int64_t difference_ns = time.of(0);
  for (std::int64_t* each :
       {&record.release_ns, &record.ready_ns, &record.start_ns, &record.end_ns}) {
    *each += difference_ns;
  }
}

}  // namespace rclrt::runner
