// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/timer.hpp"

#include <stdexcept>
#include <utility>

#include "saturating.hpp"
#include "timer_release.hpp"

namespace rclrt::executor {

namespace {

// The executor releases timers only, so the type is no choice of the caller.
CallbackOptions of_timer(CallbackOptions options) {
  options.type = EntityType::kTimer;
  return options;
}

}  // namespace

TimerCallback::TimerCallback(CallbackOptions options, TimerOptions timer)
    : Callback(of_timer(std::move(options))), timer_(timer), schedule_(timer.period_ns) {
  if (timer.offset_ns < 0) {
    throw std::invalid_argument("a timer's offset must not be negative");
  }
}

std::int64_t TimerCallback::first_release_ns(std::int64_t epoch_ns) const noexcept {
  return saturating_add(epoch_ns, timer_.offset_ns);
}

[[gnu::hot]] detail::TimerSchedule::Release take_release(
    TimerCallback& timer, std::int64_t now_ns, OverrunPolicy policy) noexcept RCLRT_NONBLOCKING {
  const auto release = schedule_of(timer).take(now_ns, policy);
  if (release.skipped != 0) {
    detail::CallbackState& state = state_of(timer);
    // relaxed: the drop that follows is a release, for counters()
    state.released.fetch_add(release.skipped, std::memory_order_relaxed);
    state.drop(release.skipped);
  }
  return release;
}

[[gnu::hot]] Instance* expire(TimerCallback& timer,
                              std::int64_t now_ns) noexcept RCLRT_NONBLOCKING {
  const auto release = take_release(timer, now_ns, timer.timer().overrun);
  detail::CallbackState& state = state_of(timer);
  Instance* const instance = state.make_instance(release.nominal_ns, release.nominal_ns);
  if (instance == nullptr) {
    detail::TimerSchedule& schedule = schedule_of(timer);
    if (const std::uint64_t more = schedule.skip_due(now_ns); more != 0) {
      state.released.fetch_add(more, std::memory_order_relaxed);  // as in take_release()
      state.drop(more - 1);
      state.refuse(schedule.next_ns() - schedule.period_ns());
    }
  }
  return instance;
}

}  // namespace rclrt::executor
