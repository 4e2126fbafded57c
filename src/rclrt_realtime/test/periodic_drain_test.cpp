// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/periodic_drain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "rclrt/realtime/mpsc_queue.hpp"

namespace rclrt::realtime {
namespace {

using namespace std::chrono_literals;

TEST(PeriodicDrain, MakesPassesUntilItIsStopped) {
  std::atomic<int> passes{0};
  PeriodicDrain drain("drain", 1ms, [&] { ++passes; });
  while (passes < 3) {
    std::this_thread::yield();
  }
  drain.stop();
  const int at_the_end = passes;
  drain.stop();
  EXPECT_EQ(passes, at_the_end) << "no pass after the last one";
}

TEST(PeriodicDrain, MakesALastPassWhenItIsDestroyed) {
  MpscQueue<int> queue(4);
  std::vector<int> drained;
  {
    const PeriodicDrain drain("drain", 24h, [&] {
      for (int value = 0; queue.try_pop(value);) {
        drained.push_back(value);
      }
    });
    queue.try_push(7);
  }
  EXPECT_EQ(drained, std::vector<int>{7});
}

TEST(PeriodicDrain, FlushWaitsForAPassThatBeginsAfterIt) {
  std::atomic<int> value{0};
  int seen = 0;  // not atomic: flush orders it
  PeriodicDrain drain("drain", 24h, [&] { seen = value; });
  for (int i = 1; i <= 100; ++i) {
    value = i;
    drain.flush();
    ASSERT_EQ(seen, i);
  }
  drain.stop();
  drain.flush();  // returns at once
}

TEST(PeriodicDrain, RefusesAPeriodBelowAMillisecond) {
  EXPECT_THAT([] { PeriodicDrain("fast", 0ms, [] {}); },
              testing::ThrowsMessage<std::invalid_argument>(
                  "fast: the drain's period must be at least 1 ms"));
}

}  // namespace
}  // namespace rclrt::realtime
