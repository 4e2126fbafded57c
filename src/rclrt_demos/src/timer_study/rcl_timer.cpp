// SPDX-License-Identifier: Apache-2.0
#include "rcl_timer.hpp"

#include <utility>

#include "rclrt/error.hpp"

namespace rclrt::timer_study {

using detail::check;
using detail::report;

RclTimer::RclTimer(std::shared_ptr<Context> context, std::chrono::nanoseconds period)
    : context_(std::move(context)),
      timer_(rcl_get_zero_initialized_timer()),
      wait_set_(rcl_get_zero_initialized_wait_set()) {
  rcl_allocator_t allocator = rcl_get_default_allocator();
  check(rcl_clock_init(RCL_STEADY_TIME, &clock_, &allocator), "making a clock");
  check(
      rcl_timer_init2(&timer_, &clock_, context_->rcl(), period.count(), nullptr, allocator, true),
      "making a timer");
  check(rcl_wait_set_init(&wait_set_, 0, 0, 1, 0, 0, 0, context_->rcl(), allocator),
        "making a wait set");
}

RclTimer::~RclTimer() {
  report(rcl_wait_set_fini(&wait_set_), "ending a wait set");
  report(rcl_timer_fini(&timer_), "ending a timer");
  report(rcl_clock_fini(&clock_), "ending a clock");
}

TimerCall RclTimer::wait() {
  TimerCall call{};
  while (!take(-1, call)) {
  }
  return call;
}

bool RclTimer::call_if_ready(TimerCall& call) { return take(0, call); }

bool RclTimer::take(std::int64_t timeout_ns, TimerCall& call) {
  check(rcl_wait_set_clear(&wait_set_), "clearing a wait set");
  check(rcl_wait_set_add_timer(&wait_set_, &timer_, nullptr), "adding to a wait set");
  const rcl_ret_t result = rcl_wait(&wait_set_, timeout_ns);
  if (result == RCL_RET_TIMEOUT) {
    return false;
  }
  check(result, "waiting");
  bool ready = false;
  check(rcl_timer_is_ready(&timer_, &ready), "asking a timer");
  if (wait_set_.timers[0] == nullptr || !ready) {
    return false;
  }
  rcl_timer_call_info_t info{};
  check(rcl_timer_call_with_info(&timer_, &info), "calling a timer");
  // From here on it does what a callback would do.
  call.release_ns = info.expected_call_time;
  check(rcl_timer_get_time_since_last_call(&timer_, &call.since_rcl_call_ns), "asking a timer");
  check(rcl_clock_get_now(&clock_, &call.now_ns), "reading a clock");
  return true;
}

}  // namespace rclrt::timer_study
