// SPDX-License-Identifier: Apache-2.0
// Limits when the executor's own threads may hold entities.
#pragma once

#include <atomic>

#include "rclrt/realtime/event_count.hpp"

namespace rclrt_rclcpp {

/// Open during a spin. A thread of the executor that scans entities keeps them for a moment; it
/// does so only inside the gate. After `close` has returned, these threads hold no entity: an
/// entity that the user releases then ends at once, on the user's thread, as with rclcpp's
/// executors. (rcl requires it: two entities of one node must not end at the same time.)
/// Thread-safe; only `close` waits.
///
/// Invariant: a thread that enters first increments `inside_` and then reads `open_`. The thread
/// that closes first clears `open_` and then reads `inside_` (all seq_cst). So one of the two sees
/// the other.
class Gate {
 public:
  void open() noexcept { open_.store(true); }
  /// Closes the gate, and waits until no thread is inside.
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

  /// Enters the gate for its scope, if it is open.
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
