// SPDX-License-Identifier: Apache-2.0
#include "busy_loop.hpp"

#include <algorithm>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::runner {

namespace {
void busy(std::uint64_t steps) noexcept {
  for (std::uint64_t i = 0; i < steps; ++i) {
    asm volatile("" : : "r"(i));  // keeps the loop, and touches no memory
  }
}
}  // namespace

BusyLoop::BusyLoop() {
  constexpr std::uint64_t kTrial = 1'000'000;
  std::int64_t fastest = INT64_MAX;  // the trial with the least disturbance
  for (int trial = 0; trial < 5; ++trial) {
    const std::int64_t start = realtime::thread_cpu_now_ns();
    busy(kTrial);
    fastest = std::min(fastest, realtime::thread_cpu_now_ns() - start);
  }
  steps_ = std::max<std::uint64_t>(
      1, kTrial * static_cast<std::uint64_t>(kLookEvery_ns) /
             static_cast<std::uint64_t>(std::max<std::int64_t>(fastest, 1)));
}

void BusyLoop::burn(std::chrono::nanoseconds amount) const noexcept {
  if (amount.count() <= 0) {
    return;
  }
  const std::int64_t end = realtime::thread_cpu_now_ns() + amount.count();
  while (realtime::thread_cpu_now_ns() < end) {
    busy(steps_);
  }
}

}  // namespace rclrt::runner
