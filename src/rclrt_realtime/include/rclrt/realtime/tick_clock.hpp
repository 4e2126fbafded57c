// SPDX-License-Identifier: Apache-2.0
// Time stamps at the cost of one instruction, and their conversion to CLOCK_MONOTONIC afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Reads the CPU's time-stamp counter (x86-64: rdtsc, aarch64: cntvct_el0) where the kernel itself
/// builds its clocks on it, and CLOCK_MONOTONIC elsewhere. Ticks have no unit of their own: a
/// TickConverter turns them into nanoseconds. A value type; reading is thread-safe.
///
/// The counter may be read a few nanoseconds early or late: neither instruction waits for those
/// around it. That is far below the conversion's error.
class RCLRT_REALTIME_EXPORT TickClock {
 public:
  /// Where time stamps come from.
  enum class Source : std::uint8_t { kCounter, kMonotonic };

  /// Returns a TickClock that reads the CPU's counter, if the kernel uses the counter as its clock
  /// source (/sys/devices/system/clocksource): the kernel has then found it constant, always on and
  /// the same on every CPU. Otherwise returns one that reads CLOCK_MONOTONIC.
  RCLRT_SETUP static TickClock best();

  /// Makes a clock that reads `source`, without a check. On a CPU without a readable counter every
  /// source is CLOCK_MONOTONIC.
  constexpr explicit TickClock(Source source) noexcept RCLRT_NONBLOCKING : source_(source) {}

  constexpr Source source() const noexcept RCLRT_NONBLOCKING { return source_; }

  std::uint64_t now() const noexcept RCLRT_NONBLOCKING {
    return source_ == Source::kCounter ? read_counter() : read_monotonic();
  }

 private:
  static std::uint64_t read_monotonic() noexcept RCLRT_NONBLOCKING {
    return static_cast<std::uint64_t>(monotonic_now_ns());
  }

  static std::uint64_t read_counter() noexcept RCLRT_NONBLOCKING {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return read_monotonic();
#endif
  }

  Source source_;
};

/// One instant on both clocks.
struct TickSample {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t error_ns = 0;  ///< the two are of one instant within ± this
};

/// Reads the ticks and CLOCK_MONOTONIC at the same time: it reads CLOCK_MONOTONIC between two reads
/// of the ticks, and returns the pair with the shortest time between them of several attempts.
/// Takes about a microsecond.
RCLRT_REALTIME_EXPORT TickSample sample_ticks(TickClock clock) noexcept RCLRT_NONBLOCKING;

/// Converts ticks to CLOCK_MONOTONIC nanoseconds by interpolation between samples, so that no
/// frequency needs to be known or estimated. The thread that drains records calls `sample()` after
/// it has read them: the records then lie between two samples.
///
/// Conversion is monotone over the ticks between two calls of `add`, and its error is at most
/// `error_ns()` plus what the kernel's clock was slewed between two samples (500 ppm of their
/// distance at the very worst: 5 µs at 10 ms). Not thread-safe.
class RCLRT_REALTIME_EXPORT TickConverter {
 public:
  /// Takes the first sample. Memory: about 24 KiB.
  RCLRT_SETUP explicit TickConverter(TickClock clock);

  /// Takes a sample now.
  void sample() noexcept RCLRT_NONBLOCKING { add(sample_ticks(clock_)); }

  /// Adds a sample, which must be later than the last one; otherwise it is ignored. If the ticks
  /// went back (a suspend reset the counter), all earlier samples are discarded.
  void add(const TickSample& sample) noexcept RCLRT_NONBLOCKING;

  /// Returns CLOCK_MONOTONIC at `ticks`. Before the first sample and after the last one, it
  /// extrapolates from the nearest two. With a single sample, it returns the time of that sample.
  std::int64_t to_monotonic_ns(std::uint64_t ticks) const noexcept RCLRT_NONBLOCKING;

  /// Returns the largest error of the samples so far.
  std::int64_t error_ns() const noexcept RCLRT_NONBLOCKING { return error_ns_; }

  const TickClock& clock() const noexcept RCLRT_NONBLOCKING { return clock_; }

 private:
  // The very first sample is kept when later ones are discarded: ticks that are older than the
  // recent samples are then converted between the first sample and the oldest recent one.
  static constexpr std::size_t kRecent = 1024;

  const TickSample& recent(std::size_t age) const noexcept RCLRT_NONBLOCKING {
    return recent_[(newest_ + kRecent - age) % kRecent];
  }

  TickClock clock_;
  TickSample first_;
  std::vector<TickSample> recent_;  // a ring of the last `count_` samples, after `first_`
  std::size_t newest_ = 0;
  std::size_t count_ = 0;
  std::int64_t error_ns_ = 0;
};

}  // namespace rclrt::realtime
