// SPDX-License-Identifier: Apache-2.0
// Test timing without waiting: a cyclic thread on a clock that the test moves.
#include "rclrt/realtime/fake_clock.hpp"

#include <iostream>
#include <vector>

#include "rclrt/realtime/cyclic_thread.hpp"

using namespace rclrt::realtime;

int main() {
  FakeClock clock;
  std::vector<std::int64_t> starts;
  CyclicThread thread({.thread = {.name = "tested"},
                       .period_ns = 10,
                       .overrun = OverrunPolicy::kSkip,
                       .clock = &clock},
                      [&](const Release& release) {
                        starts.push_back(clock.now_ns());
                        clock.advance(release.index == 1 ? 25 : 1);  // the second cycle is too long
                      });
  thread.start();
  clock.run_until(50, 1);  // one thread sleeps on this clock
  thread.stop();

  for (const std::int64_t start : starts) {
    std::cout << "cycle at " << start << '\n';
  }
  return starts == std::vector<std::int64_t>{0, 10, 40, 50} ? 0 : 1;
}
