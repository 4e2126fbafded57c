// SPDX-License-Identifier: Apache-2.0
// What the lock-free structures are built from, so that a test can run the same code on atomics
// that it schedules itself.
#pragma once

#include <atomic>
#include <cstddef>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// The default of every `Atomics` template parameter: std::atomic, and nothing else. The
/// interleaving tests put their own in its place; `reading` and `writing` tell those about each
/// access to memory that threads share without an atomic.
struct StdAtomics {
  /// What an algorithm uses for what threads share.
  template <typename T>
  using Atomic = std::atomic<T>;

  /// A thread is about to read `shared`.
  template <typename T>
  static void reading(const T& /*shared*/) noexcept RCLRT_NONBLOCKING {}
  /// A thread is about to write `shared`.
  template <typename T>
  static void writing(const T& /*shared*/) noexcept RCLRT_NONBLOCKING {}
};

/// Keeps what different threads write on different cache lines. (GCC warns that
/// std::hardware_destructive_interference_size is no part of a stable interface.)
inline constexpr std::size_t kCacheLine = 64;

}  // namespace rclrt::realtime
