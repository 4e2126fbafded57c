// SPDX-License-Identifier: Apache-2.0
// Polling for a condition that has no notification.
#pragma once

#include <chrono>
#include <cstdint>

#include "rclrt/context.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::detail {

/// Calls `condition()` once a millisecond until it returns true. Returns false if `timeout` passes
/// first (negative: no limit) or the context is shut down.
template <typename F>
bool poll_until(const Context& context, std::chrono::nanoseconds timeout,
                const F& condition) RCLRT_WAITS {
  constexpr std::int64_t kInterval_ns = 1'000'000;
  const std::int64_t start = realtime::monotonic_now_ns();
  while (context.ok()) {
    if (condition()) {
      return true;
    }
    if (timeout.count() >= 0 && realtime::monotonic_now_ns() - start >= timeout.count()) {
      return false;
    }
    realtime::sleep_until_ns(realtime::monotonic_now_ns() + kInterval_ns);
  }
  return false;
}

}  // namespace rclrt::detail
