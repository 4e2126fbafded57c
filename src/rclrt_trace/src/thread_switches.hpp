// SPDX-License-Identifier: Apache-2.0
// When the threads of a process and of all that it starts run and do not, as the kernel says it
// without privileges: records of context switches of perf_event_open(2).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rclrt::trace {

/// What a thread does from a switch on.
enum class ThreadState : std::uint8_t {
  kRuns,
  kPreempted,  ///< it could go on, and something else runs
  kWaits,
};

/// A switch of one thread, or how many the kernel had no room for.
struct ThreadSwitch {
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  ThreadState state = ThreadState::kRuns;
  std::uint64_t lost = 0;  ///< not 0: no switch; up to this time so many are missing
};

/// The switches of what a thread starts, wherever it runs, kept by the kernel until they are
/// taken: half a megabyte for each CPU, some 16 000 switches. Not thread-safe.
class ThreadSwitches {
 public:
  /// From now on: the main thread of the process `pid`, and the processes and threads that it
  /// starts, with all that these start. Throws std::system_error where the kernel refuses it:
  /// EACCES with /proc/sys/kernel/perf_event_paranoid above 2 and without CAP_PERFMON.
  explicit ThreadSwitches(pid_t pid);
  ~ThreadSwitches();
  ThreadSwitches(const ThreadSwitches&) = delete;
  ThreadSwitches& operator=(const ThreadSwitches&) = delete;

  /// As many as there may be CPUs.
  std::size_t cpus() const { return rings_.size(); }

  /// Waits until a CPU's room is half full, `descriptor` can be read or the time is over. Returns
  /// whether it can be read.
  bool wait(int descriptor, std::chrono::milliseconds at_most);

  /// Takes those of one CPU, in order of time. Those of several CPUs are not in order.
  void take(std::size_t cpu, const std::function<void(const ThreadSwitch&)>& handle);

 private:
  class Ring;
  std::vector<std::unique_ptr<Ring>> rings_;  // null: of a CPU that is not there
};

}  // namespace rclrt::trace
