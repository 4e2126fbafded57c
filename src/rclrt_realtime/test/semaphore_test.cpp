// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/semaphore.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

namespace rclrt::realtime {
namespace {

TEST(Semaphore, LetsThroughAsManyAsWerePosted) {
  Semaphore semaphore;
  EXPECT_FALSE(semaphore.try_wait());
  semaphore.post();
  semaphore.post();
  semaphore.wait();
  EXPECT_TRUE(semaphore.try_wait());
  EXPECT_FALSE(semaphore.try_wait());
}

TEST(Semaphore, WakesAThreadThatWaits) {
  Semaphore semaphore;
  std::thread waiter([&] { semaphore.wait(); });
  semaphore.post();
  waiter.join();  // hangs when it is not woken
}

Semaphore* g_posted_by_handler = nullptr;

TEST(Semaphore, CanBePostedByASignalHandler) {
  Semaphore semaphore;
  g_posted_by_handler = &semaphore;
  struct sigaction action{};
  struct sigaction old{};
  action.sa_handler = [](int) { g_posted_by_handler->post(); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
  raise(SIGUSR1);
  semaphore.wait();
  sigaction(SIGUSR1, &old, nullptr);
}

}  // namespace
}  // namespace rclrt::realtime
