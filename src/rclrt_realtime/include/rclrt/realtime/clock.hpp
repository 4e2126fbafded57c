// SPDX-License-Identifier: Apache-2.0
// The clocks of a real-time thread as plain nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

inline constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

inline std::int64_t to_nanoseconds(const timespec& time) noexcept RCLRT_NONBLOCKING {
  return static_cast<std::int64_t>(time.tv_sec) * kNanosecondsPerSecond + time.tv_nsec;
}

inline timespec to_timespec(std::int64_t time_ns) noexcept RCLRT_NONBLOCKING {
  return {static_cast<time_t>(time_ns / kNanosecondsPerSecond),
          static_cast<long>(time_ns % kNanosecondsPerSecond)};
}

/// Reads any POSIX clock, in nanoseconds since its epoch. Thread-safe.
inline std::int64_t read_clock_ns(clockid_t clock) noexcept RCLRT_NONBLOCKING {
  timespec now{};
  RCLRT_TRUST("reading a clock does not sleep", clock_gettime(clock, &now));
  return to_nanoseconds(now);
}

/// CLOCK_MONOTONIC in nanoseconds: the time base of every release, stamp and record. Thread-safe.
inline std::int64_t monotonic_now_ns() noexcept RCLRT_NONBLOCKING {
  return read_clock_ns(CLOCK_MONOTONIC);
}

/// CPU time the calling thread has used, in nanoseconds. A system call of about 0.2 µs.
inline std::int64_t thread_cpu_now_ns() noexcept RCLRT_NONBLOCKING {
  return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// Sleeps until CLOCK_MONOTONIC reaches `deadline_ns`; returns at once when it has passed.
/// A signal handler does not shorten the sleep.
inline void sleep_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  const timespec deadline = to_timespec(deadline_ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) != 0) {
  }
}

}  // namespace rclrt::realtime
