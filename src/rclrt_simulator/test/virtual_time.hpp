// SPDX-License-Identifier: Apache-2.0
// A clock for the threads of an engine that moves only with their work.
#pragma once

#include <cstdint>

namespace rclrt::simulator {

/// While it exists, the monotonic clock of this process stands still and moves only in `work` and
/// `run_until`. A thread that waits on a futex until a time wakes when the clock reaches that time.
/// The test program defines clock_gettime(), clock_nanosleep() and syscall(), which precede those
/// of libc, so the libraries under test are the shipped ones. Waits in libc itself keep the real
/// time.
///
/// Threads run in real time, by the kernel's scheduling, and their code takes no virtual time. If
/// all of them have SCHED_FIFO priorities on one CPU, they interrupt each other only where virtual
/// time moves and where a thread wakes another one. The order is therefore the same in each run.
class VirtualTime {
 public:
  /// The time at which it begins.
  static constexpr std::int64_t kBegin_ns = 1'000'000'000'000;

  VirtualTime();
  ~VirtualTime();
  VirtualTime(const VirtualTime&) = delete;
  VirtualTime& operator=(const VirtualTime&) = delete;

  /// Returns the time since the begin.
  std::int64_t now_ns() const;

  /// Lets the calling thread compute for `work_ns`. Threads that wait for a time within the work,
  /// its end excluded, wake then, and run first if they are more urgent. Their work is no part of
  /// this thread's.
  void work(std::int64_t work_ns);

  /// Moves the clock to the next time for which a thread waits whenever all other threads of the
  /// process sleep, until that time is `end_ns` or later, or no thread waits for a time. Call it on
  /// the CPU of the threads.
  void run_until(std::int64_t end_ns);
};

}  // namespace rclrt::simulator
