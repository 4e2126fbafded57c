// SPDX-License-Identifier: Apache-2.0
// A plan states how every thread is scheduled, also the threads of a library.
#include <cstdio>

#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace realtime = rclrt::realtime;

namespace {

/// A stand-in for a driver or middleware that starts threads with default scheduling.
struct VendorLibrary {
  static void work(const realtime::StopFlag& stop) { stop.wait(); }
  realtime::Thread receive{{.name = "vendor-receive"}, work};
  realtime::Thread send{{.name = "vendor-send"}, work};
};

}  // namespace

int main() {
  using realtime::Policy;
  // The first rule that matches a name counts.
  const realtime::ThreadPlan plan{{{"control", {.policy = Policy::kFifo, .priority = 40}},
                                   {"vendor-*", {.policy = Policy::kRoundRobin, .priority = 20}},
                                   {"*", {.policy = Policy::kOther}}}};

  const realtime::ThreadsBefore before;
  const VendorLibrary library;
  std::printf("the library started %zu threads\n", before.new_threads().size());
  const realtime::Thread control({.name = "control"}, VendorLibrary::work);

  const realtime::ThreadPlanReport report = plan.apply();
  for (const realtime::PlannedThread& thread : report.threads) {
    std::printf("%-16s %s\n", thread.name.c_str(), to_string(thread.found).c_str());
  }
  for (const std::string& problem : report.problems()) {
    std::printf("%s\n", problem.c_str());  // without permission the program still runs
  }
  return report.threads.size() >= 4 ? 0 : 1;
}
