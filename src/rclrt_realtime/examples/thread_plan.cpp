// SPDX-License-Identifier: Apache-2.0
// A plan in a file decides how every thread is scheduled, those of a library too.
//   example_thread_plan [plan.yaml]
#include <cstdio>
#include <exception>

#include "rclrt/realtime/thread.hpp"
#include "rclrt/realtime/thread_plan.hpp"

namespace realtime = rclrt::realtime;

namespace {

/// Stands for a driver or middleware that starts threads and does not ask how.
struct VendorLibrary {
  static void work(const realtime::StopFlag& stop) { stop.wait(); }
  realtime::Thread receive{{.name = "vendor-receive"}, work};
  realtime::Thread send{{.name = "vendor-send"}, work};
};

int run(const char* file) {
  const realtime::ThreadPlan plan = realtime::load_thread_plan(file);

  const realtime::ThreadsBefore before;
  const VendorLibrary library;
  std::printf("the library started %zu threads\n", before.new_threads().size());
  const realtime::Thread control({.name = "control"}, VendorLibrary::work);

  const realtime::ThreadPlanReport report = plan.apply();
  for (const realtime::PlannedThread& thread : report.threads) {
    std::printf("%-16s %s\n", thread.name.c_str(), to_string(thread.found).c_str());
  }
  for (const std::string& problem : report.problems()) {
    std::printf("%s\n", problem.c_str());  // without permission the program runs nevertheless
  }
  return report.threads.size() >= 4 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : RCLRT_EXAMPLES_DIR "/plan.yaml");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());  // file:line:column: what is wrong
    return 2;
  }
}
