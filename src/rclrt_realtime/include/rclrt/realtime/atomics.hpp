// SPDX-License-Identifier: Apache-2.0
// What the lock-free structures are built from, so that a test can run the same code on atomics
// that it schedules itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The default of every `Atomics` template parameter: std::atomic, and nothing else. The
/// interleaving tests put their own in its place; `reading` and `writing` tell those about each
/// access to memory that threads share without an atomic.
struct RCLRT_REALTIME_EXPORT StdAtomics {
  /// What an algorithm uses for what threads share.
  template <typename T>
  using Atomic = std::atomic<T>;

  /// Marks that a thread is about to read `shared`.
  template <typename T>
  static void reading(const T& /*shared*/) noexcept RCLRT_NONBLOCKING {}
  /// Marks that a thread is about to write `shared`.
  template <typename T>
  static void writing(const T& /*shared*/) noexcept RCLRT_NONBLOCKING {}

  /// What a thread sleeps on: a futex of this process.
  using Futex = std::atomic<std::uint32_t>;
  /// Sleeps until woken or CLOCK_MONOTONIC reaches `deadline_ns` (INT64_MAX: does not), unless
  /// `word` is not `value` any more. Looking and falling asleep are one step. May return for
  /// nothing.
  static void wait_while(const Futex& word, std::uint32_t value,
                         std::int64_t deadline_ns) noexcept RCLRT_WAITS;
  /// Wakes `count` sleepers of `word` at most; returns how many.
  static int wake(const Futex& word, int count) noexcept RCLRT_NONBLOCKING;
};

/// Keeps what different threads write on different cache lines. (GCC warns that
/// std::hardware_destructive_interference_size is no part of a stable interface.)
inline constexpr std::size_t kCacheLine = 64;

}  // namespace rclrt::realtime
