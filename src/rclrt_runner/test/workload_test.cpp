// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::runner {
namespace {

TEST(Workload, BurnsAtLeastTheStatedCpuTimeHoweverOftenItIsPreempted) {
  const Workload workload;
  std::atomic<bool> stop{false};
  std::vector<std::thread> rivals;
  for (int i = 0; i < 3; ++i) {
    rivals.emplace_back([&] {
      while (!stop.load()) {
      }
    });
  }
  for (const int milliseconds : {1, 5, 20}) {
    const std::int64_t before = realtime::thread_cpu_now_ns();
    workload.burn(std::chrono::milliseconds(milliseconds));
    EXPECT_GE(realtime::thread_cpu_now_ns() - before, milliseconds * 1'000'000);
  }
  stop = true;
  for (auto& rival : rivals) {
    rival.join();
  }
}

TEST(Workload, NoTimeIsNoWork) {
  const Workload workload;
  workload.burn(std::chrono::nanoseconds(0));
  workload.burn(std::chrono::nanoseconds(-5));
}

}  // namespace
}  // namespace rclrt::runner
