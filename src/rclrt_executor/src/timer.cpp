// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/timer.hpp"

#include <stdexcept>
#include <utility>

namespace rclrt::executor {

namespace {
std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;  // only later times overflow here
}
}  // namespace

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
    std::int64_t now_ns, OverrunPolicy policy) noexcept RCLRT_NONBLOCKING {
  Release release{next_ns_, 0};
  next_ns_ = saturating_add(next_ns_, period_ns_);
  switch (policy) {
    case OverrunPolicy::kCatchUp:
      break;
    case OverrunPolicy::kSkip:
      // A release exactly at `now` is not late yet: rcl_timer_call has the same strict comparison.
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

TimerCallback::TimerCallback(CallbackOptions options, TimerOptions timer)
    : Callback(std::move(options)), timer_(timer), schedule_(timer.period_ns) {
  if (timer.offset_ns < 0) {
    throw std::invalid_argument("a timer's offset must not be negative");
  }
}

std::int64_t TimerCallback::first_release_ns(std::int64_t epoch_ns) const noexcept {
  return saturating_add(epoch_ns, timer_.offset_ns);
}

[[gnu::hot]] TimerSchedule::Release TimerCallback::take(
    std::int64_t now_ns, OverrunPolicy policy) noexcept RCLRT_NONBLOCKING {
  const auto release = schedule_.take(now_ns, policy);
  if (release.skipped != 0) {
    released_.fetch_add(release.skipped, std::memory_order_relaxed);
    drop(release.skipped);
  }
  return release;
}

[[gnu::hot]] Instance* TimerCallback::expire(std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  const auto release = take(now_ns, timer_.overrun);
  Instance* const instance = make_instance(release.nominal_ns, release.nominal_ns);
  if (instance == nullptr) {
    if (const std::uint64_t more = schedule_.skip_due(now_ns); more != 0) {
      released_.fetch_add(more, std::memory_order_relaxed);
      drop(more - 1);
      refuse(schedule_.next_ns() - schedule_.period_ns());
    }
  }
  return instance;
}

}  // namespace rclrt::executor
