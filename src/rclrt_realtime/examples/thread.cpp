// SPDX-License-Identifier: Apache-2.0
// A thread that is real-time from its first instruction on, or an ordinary one if that is not
// permitted.
#include <chrono>
#include <cstdio>

#include "rclrt/realtime/thread.hpp"

namespace realtime = rclrt::realtime;

int main() {
  realtime::ThreadOptions options{.name = "control",
                                  .scheduling = {realtime::Policy::kFifo, 40},
                                  .stack_size = 1 << 20,
                                  .stack_prefault = 512 << 10,
                                  .before = [] { std::puts("before: open the device"); },
                                  .after = [] { std::puts("after: close the device"); }};
  if (const auto reason = realtime::why_refused(options.scheduling)) {
    std::printf("%s\n", reason->c_str());  // the cause and its fix; continue without
    options.scheduling = {};
  }

  int cycles = 0;
  realtime::Thread control(options, [&](const realtime::StopFlag& stop) {
    std::int64_t release = realtime::monotonic_now_ns();
    do {
      ++cycles;
      release += 1'000'000;
    } while (!stop.wait_until(release));
  });
  realtime::sleep_until_ns(realtime::monotonic_now_ns() + 20'000'000);
  control.stop();  // requests the stop and waits for the end
  const int first = cycles;
  control.start();  // the same body again
  control.stop();

  std::printf("%d cycles, then %d\n", first, cycles - first);
  return first > 1 && cycles > first ? 0 : 1;
}
