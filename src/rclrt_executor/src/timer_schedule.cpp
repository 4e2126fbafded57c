// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/timer_schedule.hpp"

#include <stdexcept>
#include <string>

#include "saturating.hpp"

namespace rclrt::executor::detail {

TimerSchedule::TimerSchedule(std::int64_t period_ns) : period_ns_(period_ns) {
  if (period_ns <= 0) {
    throw std::invalid_argument("a timer's period must be positive, not " +
                                std::to_string(period_ns) + " ns");
  }
}

void TimerSchedule::start(std::int64_t epoch_ns,
                          std::int64_t offset_ns) noexcept RCLRT_NONBLOCKING {
  next_ns_ = saturating_add(epoch_ns, offset_ns);
}

std::uint64_t TimerSchedule::skip_due(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  if (next_ns_ > now_ns) {
    return 0;
  }
  const std::int64_t periods = 1 + (now_ns - next_ns_) / period_ns_;
  next_ns_ = saturating_add(next_ns_, periods * period_ns_);
  return static_cast<std::uint64_t>(periods);
}

[[gnu::hot]] TimerSchedule::Release TimerSchedule::take(
    std::int64_t now_ns, realtime::OverrunPolicy policy) noexcept RCLRT_NONBLOCKING {
  Release release{next_ns_, 0};
  next_ns_ = saturating_add(next_ns_, period_ns_);
  using realtime::OverrunPolicy;
  switch (policy) {
    case OverrunPolicy::kCatchUp:
      break;
    case OverrunPolicy::kSkip:
      // A release exactly at `now_ns` is not late yet. `rcl_timer_call()` has the same strict
      // comparison.
      if (next_ns_ < now_ns) {
        const std::int64_t periods = 1 + (now_ns - next_ns_ - 1) / period_ns_;
        next_ns_ = saturating_add(next_ns_, periods * period_ns_);
        release.skipped = static_cast<std::uint64_t>(periods);
      }
      break;
    case OverrunPolicy::kRebase:
      if (next_ns_ < now_ns) {
        next_ns_ = saturating_add(now_ns, period_ns_);
      }
      break;
  }
  return release;
}

}  // namespace rclrt::executor::detail
