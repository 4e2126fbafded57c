// SPDX-License-Identifier: Apache-2.0
// A real-time thread shares a plan with a planner that has no deadline. PiMutex bounds how long it
// waits: the planner runs at the priority of the thread that waits for it.
#include <chrono>
#include <cstdio>
#include <mutex>
#include <rclrt/realtime/condition_variable.hpp>
#include <rclrt/realtime/mutex.hpp>
#include <rclrt/realtime/scheduling.hpp>
#include <rclrt/realtime/thread.hpp>

namespace rt = rclrt::realtime;
using namespace std::chrono_literals;

int main() {
  rt::PiMutex mutex;
  rt::PiConditionVariable changed;
  int plan = 0;  // guarded by mutex

  rt::Scheduling scheduling{rt::Policy::kFifo, 50, {}};
  if (const auto reason = rt::why_no_realtime(scheduling.priority)) {
    std::printf("without real time: %s\n", reason->c_str());
    scheduling = {};
  }

  int followed = 0;
  int cycles_without = 0;
  rt::Thread follower({.name = "follower", .scheduling = scheduling}, [&] {
    while (followed < 3) {
      std::unique_lock lock(mutex);
      if (changed.wait_for(lock, 10ms, [&] { return plan > followed; })) {
        followed = plan;
      } else {
        ++cycles_without;  // continues with the old plan
      }
    }
  });
  for (int next = 1; next <= 3; ++next) {
    {
      const std::scoped_lock lock(mutex);
      plan = next;
    }
    changed.notify_one();
  }
  follower.join();
  std::printf("follows plan %d; %d cycles had no new one\n", followed, cycles_without);
  return followed == 3 ? 0 : 1;
}
