// SPDX-License-Identifier: Apache-2.0
#include "quiet.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/throw_errno.hpp"

namespace rclrt::bench {

namespace {

[[noreturn]] void spin_on_every_cpu() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<realtime::Thread> spinners;
  for (const int cpu : realtime::allowed_cpus()) {
    spinners.emplace_back(
        realtime::ThreadOptions{.name = "quiet",
                                .scheduling = {realtime::Policy::kOther, 0, {cpu}}},
        [] {
          const sched_param parameters{};
          sched_setscheduler(0, SCHED_IDLE, &parameters);
          for (volatile bool forever = true; forever;) {
          }
        });
  }
  for (;;) {
    pause();
  }
}

}  // namespace

Quiet::Quiet(bool on) {
  if (!on) {
    return;
  }
  process_ = fork();
  if (process_ < 0) {
    realtime::throw_errno("starting the process of --quiet");
  }
  if (process_ == 0) {
    spin_on_every_cpu();
  }
}

Quiet::~Quiet() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

double steal_ms() {
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
