// SPDX-License-Identifier: Apache-2.0
// Watches a CPU without a pause, as hwlatdetect and osnoise do, and records when it stood still.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gap.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::latency {

/// Finds gaps in the execution of a CPU. Its thread runs under SCHED_IDLE and reads the clocks
/// while no other thread uses the CPU, so the CPU never idles. Not movable; one owner starts and
/// stops it.
class SpinWatch {
 public:
  /// Watches `cpu` for gaps of at least `threshold_ns` that no other thread explains. Keeps the
  /// first `capacity` of them.
  SpinWatch(int cpu, std::int64_t threshold_ns, std::size_t capacity);
  ~SpinWatch();
  SpinWatch(const SpinWatch&) = delete;
  SpinWatch& operator=(const SpinWatch&) = delete;

  /// Throws std::system_error when the thread cannot be started.
  void start();
  void stop() noexcept;

  /// Returns the gaps. Call it after stop().
  std::span<const Gap> gaps() const { return {gaps_.data(), size_}; }
  std::uint64_t lost() const { return lost_; }

  /// Returns the share of its time in which the thread had the CPU, from 0 to 1. In the rest of the
  /// time it cannot detect a stall. Call it after stop().
  double watched() const { return watched_; }

  /// Returns the number of readings so far. Thread-safe.
  std::uint64_t readings() const noexcept { return readings_.load(); }

 private:
  void run() noexcept;
  void keep(const Gap& gap) noexcept;

  int cpu_;
  std::int64_t threshold_ns_;
  std::vector<Gap> gaps_;
  std::size_t size_ = 0;
  std::uint64_t lost_ = 0;
  double watched_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> readings_{0};
  realtime::Thread thread_;
};

}  // namespace rclrt::latency
