// SPDX-License-Identifier: Apache-2.0
// A control loop at 1 kHz: the argument of the loop, and the figures that the thread counts.
#include "rclrt/realtime/cyclic_thread.hpp"

#include <atomic>
#include <iostream>

#include "rclrt/realtime/scheduling.hpp"

using namespace rclrt::realtime;

int main() {
  CyclicOptions options{
      .thread = {.name = "control"}, .period_ns = 1'000'000, .overrun = OverrunPolicy::kSkip};
  if (const auto reason = why_no_realtime(60)) {
    std::cout << "at normal priority: " << *reason << '\n';
  } else {
    options.thread.scheduling = {Policy::kFifo, 60, {}};
  }

  std::atomic<int> misses{0};
  CyclicThread control(
      options,
      [](const Release& release) {
        // Work on the state at release.nominal_ns. No allocation, no lock that others wait with.
        return release.index >= 199 ? LoopControl::kStop : LoopControl::kContinue;
      },
      [&](const DeadlineMiss&) { ++misses; });
  control.start();
  control.join();  // or stop(), which ends a loop that would run on

  const CyclicCounts counts = control.counts();
  const Histogram& lateness = control.lateness();
  std::cout << counts.cycles << " cycles, " << counts.missed << " missed, " << counts.overruns
            << " overruns, " << misses << " deadline misses\n"
            << "lateness p50 " << lateness.percentile(50) << " ns, p99 " << lateness.percentile(99)
            << " ns, max " << lateness.max() << " ns\n";
  // With kSkip every elapsed period is a cycle or counted as missed.
  return counts.cycles + counts.missed >= 200 && lateness.count() == counts.cycles ? 0 : 1;
}
