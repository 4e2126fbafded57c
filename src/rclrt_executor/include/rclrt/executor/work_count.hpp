// SPDX-License-Identifier: Apache-2.0
// How much work was told of and not yet taken.
#pragma once

#include <atomic>
#include <cstddef>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Counts messages, events or releases that somebody told of and nobody has taken yet.
/// Thread-safe, lock-free. Every operation is sequentially consistent: of a thread that adds and
/// then looks whether somebody takes, and one that begins to take and then looks at the count, at
/// least one sees the other.
class WorkCount {
 public:
  /// Adds `count` to it.
  void add(std::size_t count) noexcept RCLRT_NONBLOCKING { count_.fetch_add(count); }
  /// Makes it one, whatever it was.
  void set_one() noexcept RCLRT_NONBLOCKING { count_.store(1); }
  /// Takes one away. Returns false if there is none.
  bool take_one() noexcept RCLRT_NONBLOCKING {
    std::size_t count = count_.load();
    while (count > 0) {
      if (count_.compare_exchange_weak(count, count - 1)) {
        return true;
      }
    }
    return false;
  }
  /// Takes all away. Returns how many there were.
  std::size_t take_all() noexcept RCLRT_NONBLOCKING { return count_.exchange(0); }
  /// Returns whether there is none, now.
  bool empty() const noexcept RCLRT_NONBLOCKING { return count_.load() == 0; }

 private:
  std::atomic<std::size_t> count_{0};
};

}  // namespace rclrt::executor
