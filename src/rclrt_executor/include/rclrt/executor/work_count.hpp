// SPDX-License-Identifier: Apache-2.0
// The amount of work that was announced and not yet taken.
#pragma once

#include <atomic>
#include <cstddef>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Counts messages, events or releases that were announced and not yet taken. Thread-safe,
/// lock-free, and every operation is sequentially consistent. Suppose that thread A adds and then
/// checks whether thread B is taking, and thread B begins to take and then reads the count. Then A
/// sees that B is taking, or B sees what A added, or both.
class WorkCount {
 public:
  /// Adds `count` to the number.
  void add(std::size_t count) noexcept RCLRT_NONBLOCKING { count_.fetch_add(count); }
  /// Sets the number to one.
  void set_one() noexcept RCLRT_NONBLOCKING { count_.store(1); }
  /// Subtracts one. Returns false if the number is 0.
  bool take_one() noexcept RCLRT_NONBLOCKING {
    std::size_t count = count_.load();
    while (count > 0) {
      if (count_.compare_exchange_weak(count, count - 1)) {
        return true;
      }
    }
    return false;
  }
  /// Sets the number to 0. Returns the number before.
  std::size_t take_all() noexcept RCLRT_NONBLOCKING { return count_.exchange(0); }
  /// Returns whether the number is 0 now.
  bool empty() const noexcept RCLRT_NONBLOCKING { return count_.load() == 0; }

 private:
  std::atomic<std::size_t> count_{0};
};

}  // namespace rclrt::executor
