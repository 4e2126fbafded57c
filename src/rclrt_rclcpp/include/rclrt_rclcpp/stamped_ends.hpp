// SPDX-License-Identifier: Apache-2.0
// The instances of a subscription of which another host stamps the messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rclrt/realtime/mpsc_queue.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt_rclcpp {

/// The end of an instance, and the stamp of its message.
struct StampedEnd {
  std::int64_t stamp_ns = 0;  ///< header.stamp, by the clock of another host; 0: none
  std::int64_t end_ns = 0;    ///< CLOCK_MONOTONIC_RAW
};

/// Keeps ended instances until one thread takes them, such as a monitor's. The age of their data is
/// not known yet: it depends on the difference of the clocks of two hosts.
class StampedEnds {
 public:
  static constexpr std::size_t kCapacity = 4096;

  /// Adds an instance; if the queue is full, counts it instead. Thread-safe.
  void note(const StampedEnd& end) noexcept RCLRT_NONBLOCKING {
    if (!queue_.try_push(end)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);  // statistics only
    }
  }
  /// Takes the oldest instance. Returns false if there is none. One thread at a time.
  bool take(StampedEnd& end) noexcept RCLRT_NONBLOCKING { return queue_.try_pop(end); }
  /// Returns how many instances found the queue full.
  std::uint64_t dropped() const noexcept RCLRT_NONBLOCKING {
    return dropped_.load(std::memory_order_relaxed);
  }

 private:
  rclrt::realtime::MpscQueue<StampedEnd> queue_{kCapacity};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace rclrt_rclcpp
