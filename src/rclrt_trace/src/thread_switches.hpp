// SPDX-License-Identifier: Apache-2.0
// Context switches of a process's threads and of all processes that it starts: records of
// perf_event_open(2), which needs no privileges for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rclrt::trace {

/// The state of a thread after a switch.
enum class ThreadState : std::uint8_t {
  kRuns,
  kPreempted,  ///< it could run, but another thread runs
  kWaits,
};

/// A switch of one thread, or the number of switches that the kernel had no room for.
struct ThreadSwitch {
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  ThreadState state = ThreadState::kRuns;
  std::uint64_t lost = 0;  ///< if not 0, no switch: number of switches lost before `time_ns`
};

/// The switches of the threads that a process starts, on every CPU. The kernel keeps them in
/// buffers of half a megabyte for each CPU (about 16 000 switches) until they are read. Not
/// thread-safe.
class ThreadSwitches {
 public:
  /// Begins to record the main thread of the process `pid`, the processes and threads that it
  /// starts from now on, and all that these start. Throws std::system_error if the kernel refuses.
  /// EACCES: /proc/sys/kernel/perf_event_paranoid is above 2 and the process does not have
  /// CAP_PERFMON.
  explicit ThreadSwitches(pid_t pid);
  ~ThreadSwitches();
  ThreadSwitches(const ThreadSwitches&) = delete;
  ThreadSwitches& operator=(const ThreadSwitches&) = delete;

  /// Returns the number of possible CPUs.
  std::size_t cpus() const { return rings_.size(); }

  /// Waits until the buffer of a CPU is half full, the file `descriptor` is readable, or `at_most`
  /// has passed. Returns whether `descriptor` is readable.
  bool wait(int descriptor, std::chrono::milliseconds at_most);

  /// Takes the switches of one CPU, in order of time. There is no order between CPUs.
  void take(std::size_t cpu, const std::function<void(const ThreadSwitch&)>& handle);

 private:
  class Ring;
  std::vector<std::unique_ptr<Ring>> rings_;  // null for a CPU that is offline
};

}  // namespace rclrt::trace
