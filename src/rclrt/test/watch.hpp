// SPDX-License-Identifier: Apache-2.0
// Counts the allocations and locks of a thread after its warm-up.
#pragma once

#include <cstdint>
#include <optional>

#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::test {

inline constexpr std::uint64_t kWarmUp = 200;
inline constexpr std::uint64_t kMessages = 10'000;

/// Watches the one thread that calls it, from the end of the warm-up until the last message.
class Watch {
 public:
  /// Returns true from the last message on.
  bool operator()() {
    const std::uint64_t number = ++calls_;
    if (number == kWarmUp) {
      guard_.emplace(realtime::RtGuardOptions{
          .action = realtime::RtGuardAction::kCount, .free_locks = true, .page_faults = false});
    } else if (number == kWarmUp + kMessages) {
      report_ = guard_->report();
      guard_.reset();
    }
    return number >= kWarmUp + kMessages;
  }
  /// Returns the report. Call it after the thread has ended.
  const realtime::RtReport& report() const { return report_; }

 private:
  std::uint64_t calls_ = 0;
  std::optional<realtime::RtGuard> guard_;
  realtime::RtReport report_;
};

}  // namespace rclrt::test
