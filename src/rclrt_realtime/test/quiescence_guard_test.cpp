// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/quiescence_guard.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace rclrt::realtime {
namespace {

TEST(QuiescenceGuard, IsClosedAndEmptyAtFirst) {
  QuiescenceGuard guard;
  EXPECT_TRUE(guard.is_empty());
  EXPECT_FALSE(guard.try_enter());
  EXPECT_TRUE(guard.is_empty()) << "a refused thread is not inside";
}

TEST(QuiescenceGuard, LetsThreadsInWhileItIsOpen) {
  QuiescenceGuard guard;
  guard.open();
  {
    const QuiescenceGuard::Inside first(guard);
    const QuiescenceGuard::Inside second(guard);
    EXPECT_TRUE(first.allowed());
    EXPECT_TRUE(second.allowed());
    EXPECT_FALSE(guard.is_empty());
  }
  EXPECT_TRUE(guard.is_empty());
  guard.close();
  EXPECT_FALSE(QuiescenceGuard::Inside(guard).allowed());
  guard.open();
  EXPECT_TRUE(QuiescenceGuard::Inside(guard).allowed());
}

TEST(QuiescenceGuard, EntersAClosedGuardWithoutAsking) {
  QuiescenceGuard guard;
  guard.enter();
  EXPECT_FALSE(guard.is_empty());
  guard.leave();
  EXPECT_TRUE(guard.is_empty());
}

TEST(QuiescenceGuard, AWaitWithADeadlineEndsWhileAThreadIsInside) {
  QuiescenceGuard guard;
  guard.enter();
  EXPECT_FALSE(guard.wait_until_empty(0));
  EXPECT_FALSE(guard.wait_until_empty(monotonic_now_ns() + 1'000'000));
  guard.leave();
  EXPECT_TRUE(guard.wait_until_empty(0));
}

TEST(QuiescenceGuard, CloseWaitsForTheLastThread) {
  QuiescenceGuard guard;
  guard.open();
  ASSERT_TRUE(guard.try_enter());
  ASSERT_TRUE(guard.try_enter());
  int object = 1;  // not atomic: ThreadSanitizer checks that the threads agree
  std::atomic<bool> closed{false};
  std::thread closer([&] {
    guard.close();
    object = 0;
    closed = true;
  });
  while (guard.try_enter()) {  // until the closer has begun
    guard.leave();
  }
  EXPECT_EQ(object, 1);
  guard.leave();
  EXPECT_FALSE(closed);
  EXPECT_EQ(object, 1);
  guard.leave();
  closer.join();
  EXPECT_EQ(object, 0);
}

/// The thread that waits may free the guard at once: under AddressSanitizer and ThreadSanitizer
/// this test also shows that the leaving thread does not touch it any more.
TEST(QuiescenceGuard, MayBeDestroyedByTheThreadThatWaited) {
  for (int round = 0; round < 500; ++round) {
    auto guard = std::make_unique<QuiescenceGuard>();
    guard->enter();
    std::thread visitor([visited = guard.get()] { visited->leave(); });
    guard->wait_until_empty();
    guard.reset();
    visitor.join();
  }
}

TEST(QuiescenceGuard, ManyThreadsEnterWhileItOpensAndCloses) {
  QuiescenceGuard guard;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> visits{0};
  std::atomic<bool> wrong{false};
  auto object = std::make_unique<int>(1);
  std::vector<std::thread> visitors;
  for (int i = 0; i < 3; ++i) {
    visitors.emplace_back([&] {
      while (!stop) {
        if (const QuiescenceGuard::Inside inside(guard); inside.allowed()) {
          wrong = wrong || *object != 1;
          ++visits;
        }
      }
    });
  }
  for (int round = 0; round < 50 || visits < 10'000; ++round) {
    guard.open();
    const std::uint64_t before = visits;
    while (visits == before) {
      std::this_thread::yield();
    }
    guard.close();
    *object = 2;
    object = std::make_unique<int>(1);
  }
  stop = true;
  for (auto& visitor : visitors) {
    visitor.join();
  }
  EXPECT_FALSE(wrong);
}

TEST(QuiescenceGuard, SeveralThreadsMayWait) {
  for (int round = 0; round < 200; ++round) {
    QuiescenceGuard guard;
    guard.enter();
    std::vector<std::thread> waiting;
    for (int i = 0; i < 3; ++i) {
      waiting.emplace_back([&] { guard.wait_until_empty(); });
    }
    guard.leave();
    for (auto& each : waiting) {
      each.join();  // hangs when a wake-up is lost
    }
  }
}

}  // namespace
}  // namespace rclrt::realtime
