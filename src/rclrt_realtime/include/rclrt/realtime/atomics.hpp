// SPDX-License-Identifier: Apache-2.0
// The atomics of the lock-free structures. They are a template parameter, so that a test can run
// the same code on atomics that it schedules itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The default of every `Atomics` template parameter: std::atomic and a futex, without additions.
/// The interleaving tests pass a type of their own instead. Code that accesses shared memory
/// without an atomic calls `reading` and `writing` first, so that the type of the tests sees these
/// accesses, too.
struct RCLRT_REALTIME_EXPORT StdAtomics {
  /// The type of a variable that several threads access.
  template <typename T>
  using Atomic = std::atomic<T>;

  /// Marks that a thread is about to read `shared`.
  template <typename T>
  static void reading(const T& /*shared*/) noexcept RCLRT_NONBLOCKING {}
  /// Marks that a thread is about to write `shared`.
  template <typename T>
  static void writing(const T& /*shared*/) noexcept RCLRT_NONBLOCKING {}

  /// The word on which a thread sleeps: a futex that is private to the process.
  using Futex = std::atomic<std::uint32_t>;
  /// Sleeps until another thread wakes this one, or until CLOCK_MONOTONIC reaches `deadline_ns`
  /// (INT64_MAX: no deadline). Returns at once if `word` is not `value`; the comparison and falling
  /// asleep are one atomic step. May return spuriously.
  static void wait_while(const Futex& word, std::uint32_t value,
                         std::int64_t deadline_ns) noexcept RCLRT_WAITS;
  /// Wakes at most `count` sleepers of `word`. Returns the number of threads woken.
  static int wake(const Futex& word, int count) noexcept RCLRT_NONBLOCKING;
};

/// The alignment that puts variables written by different threads on different cache lines. (GCC
/// warns that std::hardware_destructive_interference_size is not part of a stable interface.)
inline constexpr std::size_t kCacheLine = 64;

}  // namespace rclrt::realtime
