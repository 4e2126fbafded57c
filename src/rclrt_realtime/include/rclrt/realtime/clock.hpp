// SPDX-License-Identifier: Apache-2.0
// The clocks of a real-time thread as plain nanoseconds, and a clock that tests can replace.
#pragma once

#include <time.h>

#include <cerrno>
#include <cstdint>

#include "rclrt/realtime/event_count.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Nanoseconds in a second.
inline constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

/// Converts a time into one number. Overflows after 292 years.
inline std::int64_t to_nanoseconds(const timespec& time) noexcept RCLRT_NONBLOCKING {
  return static_cast<std::int64_t>(time.tv_sec) * kNanosecondsPerSecond + time.tv_nsec;
}

/// Converts a time for a system call. `time_ns` must not be negative.
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

/// Returns the time of CLOCK_MONOTONIC in nanoseconds. All releases, stamps and records of rclrt
/// use this clock. Thread-safe.
inline std::int64_t monotonic_now_ns() noexcept RCLRT_NONBLOCKING {
  return read_clock_ns(CLOCK_MONOTONIC);
}

/// Returns the CPU time of the calling thread in nanoseconds. Makes a system call of about 0.2 µs.
inline std::int64_t thread_cpu_now_ns() noexcept RCLRT_NONBLOCKING {
  return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// Sleeps until CLOCK_MONOTONIC reaches `deadline_ns`; returns at once if that time has passed. A
/// signal handler does not shorten the sleep.
inline void sleep_until_ns(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
  const timespec deadline = to_timespec(deadline_ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

/// The time as a parameter: code that takes a `Clock&` runs on `SteadyClock` in operation and on
/// `FakeClock` (fake_clock.hpp) in its tests. A call through `Clock&` costs about 1 ns; a call
/// through `SteadyClock`, which is final, costs nothing. Both functions are thread-safe.
class RCLRT_REALTIME_EXPORT Clock {
 public:
  virtual std::int64_t now_ns() const noexcept RCLRT_NONBLOCKING = 0;

  /// Sleeps until `event` is notified or `now_ns()` of this clock reaches `deadline_ns`. Returns at
  /// once if `event` was notified since `prepare_wait` returned `key`. May return spuriously, as
  /// `EventCount::wait_until`.
  virtual void wait_until(EventCount& event, EventCount::Key key,
                          std::int64_t deadline_ns) noexcept RCLRT_WAITS = 0;

  /// Sleeps until `now_ns()` reaches `deadline_ns`; returns at once when it has.
  void sleep_until(std::int64_t deadline_ns) noexcept RCLRT_WAITS {
    EventCount nobody_notifies;
    while (now_ns() < deadline_ns) {
      wait_until(nobody_notifies, nobody_notifies.prepare_wait(), deadline_ns);
    }
  }

 protected:
  ~Clock() = default;  // not virtual: a clock is never deleted through its interface
};

/// CLOCK_MONOTONIC.
class RCLRT_REALTIME_EXPORT SteadyClock final : public Clock {
 public:
  std::int64_t now_ns() const noexcept RCLRT_NONBLOCKING override { return monotonic_now_ns(); }
  void wait_until(EventCount& event, EventCount::Key key,
                  std::int64_t deadline_ns) noexcept RCLRT_WAITS override {
    event.wait_until(key, deadline_ns);
  }
};

namespace detail {
inline constinit SteadyClock the_steady_clock;  // has no state
}

/// Returns the `SteadyClock` that all threads can share.
inline SteadyClock& steady_clock() noexcept RCLRT_NONBLOCKING { return detail::the_steady_clock; }

}  // namespace rclrt::realtime
