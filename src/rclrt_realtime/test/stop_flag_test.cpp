// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/stop_flag.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

TEST(StopFlag, EndsTheWaitOfEverybody) {
  StopFlag stop;
  std::atomic<int> ended{0};
  const auto body = [&] {
    stop.wait();
    ended.fetch_add(1);
  };
  Thread first({.name = "first"}, body);
  Thread second({.name = "second"}, body);
  stop.request_stop();
  first.join();
  second.join();
  EXPECT_EQ(ended.load(), 2);
}

TEST(StopFlag, LetsAWaitEndAtItsDeadline) {
  const StopFlag stop;
  const std::int64_t deadline = monotonic_now_ns() + 1'000'000;
  EXPECT_FALSE(stop.wait_until(deadline));
  EXPECT_GE(monotonic_now_ns(), deadline);
}

TEST(StopFlag, ThatIsRaisedLetsNobodyWait) {
  StopFlag stop;
  stop.request_stop();
  EXPECT_TRUE(stop.stop_requested());
  EXPECT_TRUE(stop.wait_until(EventCount::kForever));
  stop.clear();
  EXPECT_FALSE(stop.wait_until(0));
}

StopFlag* raised_by_handler = nullptr;

TEST(StopFlag, MayBeRaisedByASignalHandlerInTheThreadThatWaits) {
  StopFlag stop;
  raised_by_handler = &stop;
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = [](int) { raised_by_handler->request_stop(); };
  sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> runs{false};
  pthread_t handle{};
  Thread thread({.name = "waits"}, [&] {
    handle = pthread_self();
    runs = true;
    // ThreadSanitizer runs the handler only in calls that it knows, such as reading the clock.
    while (!stop.wait_until(monotonic_now_ns() + 10'000'000)) {
    }
  });
  while (!runs) {
  }
  pthread_kill(handle, SIGUSR1);
  thread.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(stop.stop_requested());
}

}  // namespace
}  // namespace rclrt::realtime
