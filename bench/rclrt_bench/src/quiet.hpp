// SPDX-License-Identifier: Apache-2.0
// Keeping a virtual machine's host awake, and seeing what it takes.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::bench {

/// A SCHED_IDLE thread per CPU that never sleeps, so that no CPU goes idle and the host has no
/// reason to put it to sleep. Anything else preempts it at once.
class Quiet {
 public:
  explicit Quiet(bool on) {
    if (!on) {
      return;
    }
    for (const int cpu : realtime::allowed_cpus()) {
      spinners_.emplace_back(
          realtime::ThreadOptions{.name = "quiet",
                                  .scheduling = {realtime::Policy::kOther, 0, {cpu}}},
          [this] {
            const sched_param parameters{};
            sched_setscheduler(0, SCHED_IDLE, &parameters);
            while (!stop_.load(std::memory_order_relaxed)) {
            }
          });
    }
  }
  ~Quiet() { stop_.store(true); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<realtime::Thread> spinners_;
};

/// CPU time the host has taken from this machine since it started, in milliseconds.
inline double steal_ms() {
  std::ifstream stat("/proc/stat");
  std::string label;
  double value = 0;
  stat >> label;
  for (int column = 0; column < 8; ++column) {  // the eighth number is steal
    stat >> value;
  }
  return value * 1000.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace rclrt::bench
