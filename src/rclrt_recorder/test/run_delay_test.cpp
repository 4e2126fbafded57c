// SPDX-License-Identifier: Apache-2.0
#include "../src/run_delay.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::recorder {
namespace {

TEST(ParseRunDelay, TakesTheSecondOfThreeNumbers) {
  EXPECT_EQ(parse_run_delay_ns("17 4200000 3\n"), 4'200'000);
  EXPECT_EQ(parse_run_delay_ns("0 0 0\n"), 0);
}

TEST(ParseRunDelay, RefusesAnotherForm) {
  for (const char* text : {"", "17", "17 ", "17 x 3", "17 42"}) {
    EXPECT_EQ(parse_run_delay_ns(text), std::nullopt) << text;
  }
}

TEST(RunDelay, GrowsWhileAnotherThreadHasTheCpu) {
  const int cpu = realtime::allowed_cpus().front();
  const auto burn = [](std::chrono::milliseconds amount) {
    const std::int64_t end = realtime::thread_cpu_now_ns() + amount.count() * 1'000'000;
    while (realtime::thread_cpu_now_ns() < end) {
    }
  };
  const realtime::ThreadOptions options{.name = "burn", .scheduling = {.cpus = {cpu}}};
  std::int64_t waited_ns = 0;
  {
    const realtime::Thread first(options, [&] {
      RunDelay delay;
      burn(std::chrono::milliseconds(100));
      waited_ns = delay.added_ns();
    });
    const realtime::Thread second(options, [&] { burn(std::chrono::milliseconds(100)); });
  }
  if (waited_ns == 0) {
    GTEST_SKIP() << "this kernel does not account for it";
  }
  EXPECT_GT(waited_ns, 1'000'000);  // two that share a CPU evenly: far more than a millisecond
}

}  // namespace
}  // namespace rclrt::recorder
