// SPDX-License-Identifier: Apache-2.0
// A process that is set up for real time, as far as that is permitted, and stops on a signal.
#include <csignal>
#include <cstdio>
#include <exception>

#include "rclrt/realtime/process.hpp"
#include "rclrt/realtime/stop_signal.hpp"

namespace realtime = rclrt::realtime;

int main(int argc, char**) {
  try {
    // On Ctrl-C or SIGTERM, the program must stop within two seconds; otherwise it is terminated.
    const realtime::StopSignal stop(std::chrono::seconds(2));

    const realtime::PreparedProcess process = realtime::prepare_process(
        {.heap_prefault = 4 << 20, .stack_prefault = 256 << 10, .strict = argc > 1});
    for (const realtime::ProcessStep& step : process.steps) {
      std::printf("%s: %s\n", step.what.c_str(),
                  step.problem.empty() ? "done" : step.problem.c_str());
    }

    std::puts("running until SIGINT, which this example sends itself");
    std::raise(SIGINT);
    stop.wait();
    std::printf("stopping after signal %d\n", stop.signal());
    return stop.signal() == SIGINT && process.steps.size() == 5 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());  // with an argument: strict
    return 2;
  }
}
