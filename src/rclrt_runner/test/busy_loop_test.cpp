// SPDX-License-Identifier: Apache-2.0
#include "busy_loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::runner {
namespace {

TEST(BusyLoop, BurnsAtLeastTheStatedCpuTimeHoweverOftenItIsPreempted) {
  const BusyLoop busy_loop;
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
    busy_loop.burn(std::chrono::milliseconds(milliseconds));
    EXPECT_GE(realtime::thread_cpu_now_ns() - before, milliseconds * 1'000'000);
  }
  stop = true;
  for (auto& rival : rivals) {
    rival.join();
  }
}

TEST(BusyLoop, NoTimeIsNoWork) {
  const BusyLoop busy_loop;
  busy_loop.burn(std::chrono::nanoseconds(0));
  busy_loop.burn(std::chrono::nanoseconds(-5));
}

}  // namespace
}  // namespace rclrt::runner
