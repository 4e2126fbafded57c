// SPDX-License-Identifier: Apache-2.0
// When the executor's own threads may hold entities.
#pragma once

#include <atomic>

#include "rclrt/realtime/event_count.hpp"

namespace rclrt_rclcpp {

/// Open while somebody spins. A thread of the executor that looks at entities keeps them for a
/// moment; it does so inside only. When `close` has returned it holds none: what the user lets go
/// of then ends there and then, on the user's thread, as rclcpp's executors have it. (rcl counts
/// on it: two entities of one node must not end at the same time.) Thread-safe; only `close` waits.
///
/// Invariant: who goes in counts itself before it looks whether the gate is open, and who closes it
/// looks at the count afterwards, all seq_cst. So either sees the other.
class Gate {
 public:
  void open() noexcept { open_.store(true); }
  /// Waits until nobody is inside.
  void close() noexcept {
    open_.store(false);
    for (;;) {
      const auto key = empty_.prepare_wait();
      if (inside_.load() == 0) {
        empty_.cancel_wait();
        return;
      }
      empty_.wait(key);
    }
  }

  /// For the time of its scope, if it is allowed to.
  class Inside {
   public:
    explicit Inside(Gate& gate) noexcept : gate_(gate) {
      gate_.inside_.fetch_add(1);
      allowed_ = gate_.open_.load();
    }
    ~Inside() {
      if (gate_.inside_.fetch_sub(1) == 1) {
        gate_.empty_.notify_all();
      }
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    bool allowed() const noexcept { return allowed_; }

   private:
    Gate& gate_;
    bool allowed_ = false;
  };

 private:
  std::atomic<bool> open_{false};
  std::atomic<int> inside_{0};
  rclrt::realtime::EventCount empty_;
};

}  // namespace rclrt_rclcpp
