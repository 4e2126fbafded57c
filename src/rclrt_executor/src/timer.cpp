// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/timer.hpp"

#include <stdexcept>
#include <utility>

namespace rclrt::executor {

TimerSchedule::TimerSchedule(std::int64_t period_ns) : period_ns_(period_ns) {
  if (period_ns <= 0) {
    throw std::invalid_argument("a timer's period must be positive, not " +
                                std::to_string(period_ns) + " ns");
  }
}

TimerSchedule::Release TimerSchedule::take(std::int64_t now_ns,
                                           OverrunPolicy policy) noexcept RCLRT_NONBLOCKING {
  Release release{next_ns_, 0};
  next_ns_ += period_ns_;
  switch (policy) {
    case OverrunPolicy::kCatchUp:
      break;
    case OverrunPolicy::kSkip:
      // A release exactly at `now` is not late yet: rcl_timer_call has the same strict comparison.
      if (next_ns_ < now_ns) {
        const std::int64_t periods = 1 + (now_ns - next_ns_ - 1) / period_ns_;
        next_ns_ += periods * period_ns_;
        release.skipped = static_cast<std::uint64_t>(periods);
      }
      break;
    case OverrunPolicy::kRebase:
      if (next_ns_ < now_ns) {
        next_ns_ = now_ns + period_ns_;
      }
      break;
  }
  return release;
}

TimerCallback::TimerCallback(CallbackOptions options, TimerOptions timer)
    : Callback(std::move(options)), timer_(timer), schedule_(timer.period_ns) {
  if (timer.offset_ns < 0) {
    throw std::invalid_argument("a timer's offset must not be negative");
  }
}

TimerSchedule::Release TimerCallback::take(std::int64_t now_ns,
                                           OverrunPolicy policy) noexcept RCLRT_NONBLOCKING {
  const auto release = schedule_.take(now_ns, policy);
  if (release.skipped != 0) {
    released_.fetch_add(release.skipped, std::memory_order_relaxed);
    dropped_.fetch_add(release.skipped, std::memory_order_release);
  }
  return release;
}

Instance* TimerCallback::expire(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  const auto release = take(now_ns, timer_.overrun);
  return make_instance(release.nominal_ns, release.nominal_ns);
}

}  // namespace rclrt::executor
