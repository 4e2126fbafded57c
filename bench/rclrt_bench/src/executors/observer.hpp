// SPDX-License-Identifier: Apache-2.0
// The measurement inside the callbacks of a case.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costs.hpp"
#include "measurement.hpp"

namespace rclrt::bench {

/// Records the latencies of `count` dispatches, from the call of `open` on. A measured callback
/// calls it at each dispatch. Allocates nothing after construction.
class Observer {
 public:
  explicit Observer(std::size_t count);

  /// Records a dispatch with this latency, in ns. The measured callback calls it as its first
  /// action, from any worker. `release_ns`: the nominal release, only for timers.
  void operator()(std::int64_t latency_ns, std::int64_t release_ns = 0) noexcept;

  /// Starts recording: the warm-up is over. Thread-safe.
  void open() noexcept { open_.store(true); }
  bool is_open() const noexcept { return open_.load(); }
  /// Returns whether there was a dispatch during the warm-up.
  bool warm() const noexcept { return warm_.load(); }
  /// Returns whether there are enough samples.
  bool done() const noexcept { return seen_.load() >= latencies_ns_.size(); }
  /// Returns the number of samples.
  std::size_t kept() const noexcept;

  /// Adds the recorded samples to `into`. Adds the costs (CPU time, system calls, allocations) only
  /// if all samples were recorded. Call it after the last dispatch.
  void report(Row& into) const;
  /// Returns the number of releases of timers with the period `period_ns` that had no dispatch,
  /// between the first and the last sample.
  std::uint64_t lost_releases(std::int64_t period_ns) const;

 private:
  std::vector<std::int64_t> latencies_ns_;
  std::vector<std::int64_t> releases_ns_;
  std::atomic<bool> warm_{false};
  std::atomic<bool> open_{false};
  // Each dispatch since `open` has a slot of its own, which is read after the threads are joined.
  std::atomic<std::size_t> seen_{0};
  Costs before_;  // from the first slot's dispatch, and the last one's
  Costs after_;
};

}  // namespace rclrt::bench
