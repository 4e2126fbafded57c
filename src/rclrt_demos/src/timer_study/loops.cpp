// SPDX-License-Identifier: Apache-2.0
#include "loops.hpp"

#include <chrono>

#include "rcl_timer.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt::timer_study {

using realtime::monotonic_now_ns;
using realtime::sleep_until_ns;

void run_nanosleep(Loop& loop) {
  loop.record.begin();
  std::int64_t release_ns = monotonic_now_ns();
  while (loop.goes_on()) {
    release_ns += loop.options.period_ns;
    sleep_until_ns(release_ns);
    loop.record.add({release_ns, monotonic_now_ns() - release_ns});
  }
}

void run_spin_some(Loop& loop) {
  RclTimer timer(loop.context, std::chrono::nanoseconds(loop.options.period_ns) / 2);
  TimerCall call{};
  loop.record.begin();
  std::int64_t release_ns = monotonic_now_ns();
  while (loop.goes_on()) {
    release_ns += loop.options.period_ns;
    sleep_until_ns(release_ns);
    if (timer.call_if_ready(call)) {
      loop.record.add({release_ns, monotonic_now_ns() - release_ns, call.since_rcl_call_ns});
    } else {
      ++loop.missed_passes;
    }
  }
}

void run_spin(Loop& loop) {
  RclTimer timer(loop.context, std::chrono::nanoseconds(loop.options.period_ns));
  loop.record.begin();
  while (loop.goes_on()) {
    const TimerCall call = timer.wait();
    loop.record.add({call.release_ns, call.now_ns - call.release_ns, call.since_rcl_call_ns});
  }
}

}  // namespace rclrt::timer_study
