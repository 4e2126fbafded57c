// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/condition_variable.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::realtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(PiConditionVariable, AWaitWhoseDeadlineHasPassedSaysSoAndHoldsTheLock) {
  PiMutex mutex;
  PiConditionVariable condition;
  std::unique_lock lock(mutex);
  EXPECT_EQ(condition.wait_until(lock, steady_clock::now() - milliseconds(1)),
            std::cv_status::timeout);
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_EQ(condition.wait_until_ns(lock, -1), std::cv_status::timeout);
  EXPECT_FALSE(condition.wait_for(lock, milliseconds(0), [] { return false; }));
  EXPECT_TRUE(condition.wait_for(lock, milliseconds(0), [] { return true; }));
}

TEST(PiConditionVariable, NeverTimesOutBeforeItsDeadline) {
  PiMutex mutex;
  PiConditionVariable condition;
  std::unique_lock lock(mutex);
  const auto deadline = steady_clock::now() + milliseconds(5);
  EXPECT_FALSE(condition.wait_until(lock, deadline, [] { return false; }));
  EXPECT_GE(steady_clock::now(), deadline);
}

TEST(PiConditionVariable, AVeryLongTimeoutDoesNotOverflow) {
  PiMutex mutex;
  PiConditionVariable condition;
  bool ready = false;
  std::thread other([&] {
    const std::scoped_lock lock(mutex);
    ready = true;
    condition.notify_one();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(condition.wait_for(lock, std::chrono::hours::max(), [&] { return ready; }));
  EXPECT_TRUE(condition.wait_until(lock, steady_clock::time_point::max(), [&] { return ready; }));
  lock.unlock();
  other.join();
}

TEST(PiConditionVariable, TwoThreadsThatTakeTurnsLoseNoWakeUp) {
  constexpr int kRounds = 20'000;
  for (const bool notify_with_lock : {true, false}) {
    PiMutex mutex;
    PiConditionVariable condition;
    int turn = 0;  // guarded by mutex
    const auto play = [&](int me) {
      for (int round = 0; round < kRounds; ++round) {
        std::unique_lock lock(mutex);
        condition.wait(lock, [&] { return turn == me; });
        turn = 1 - me;
        if (!notify_with_lock) {
          lock.unlock();
        }
        condition.notify_one();
      }
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();  // hangs when a wake-up is lost
    EXPECT_EQ(turn, 0);
  }
}

TEST(PiConditionVariable, ManyProducersAndConsumersLoseNothing) {
  constexpr int kThreads = 3;
  constexpr int kItems = 5'000;
  PiMutex mutex;
  PiConditionVariable filled;
  PiConditionVariable emptied;
  int items = 0;  // guarded by mutex, 0..2
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int item = 0; item < kItems; ++item) {
        std::unique_lock lock(mutex);
        emptied.wait(lock, [&] { return items < 2; });
        ++items;
        filled.notify_one();
      }
    });
    threads.emplace_back([&] {
      for (int item = 0; item < kItems; ++item) {
        std::unique_lock lock(mutex);
        filled.wait(lock, [&] { return items > 0; });
        --items;
        lock.unlock();
        emptied.notify_one();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();  // hangs when a wake-up is lost
  }
  EXPECT_EQ(items, 0);
}

TEST(PiConditionVariable, NotifyAllWakesEveryWaiter) {
  PiMutex mutex;
  PiConditionVariable condition;
  PiConditionVariable arrived;
  int waiting = 0;
  bool go = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      ++waiting;
      arrived.notify_one();
      condition.wait(lock, [&] { return go; });
    });
  }
  {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return waiting == 4; });
    go = true;
  }
  condition.notify_all();
  for (auto& thread : threads) {
    thread.join();  // hangs if one waiter is not woken
  }
}

TEST(PiConditionVariable, WakesTheMostUrgentWaiterFirst) {
  if (const auto reason = why_no_realtime(30)) {
    GTEST_SKIP() << *reason;
  }
  // All on one CPU under SCHED_FIFO: when the notifier (priority 5) runs, the waiters sleep. The
  // least urgent waiter starts first.
  const std::vector<int> cpu{allowed_cpus().front()};
  PiMutex mutex;
  PiConditionVariable condition;
  int permits = 0;         // guarded by mutex
  std::vector<int> woken;  // guarded by mutex
  std::vector<Thread> waiters;
  for (const int priority : {10, 30, 20}) {
    waiters.emplace_back(ThreadOptions{"waiter", {Policy::kFifo, priority, cpu}}, [&, priority] {
      std::unique_lock lock(mutex);
      condition.wait(lock, [&] { return permits > 0; });
      --permits;
      woken.push_back(priority);
    });
  }
  Thread({.name = "notifier", .scheduling = {Policy::kFifo, 5, cpu}}, [&] {
    for (int i = 0; i < 3; ++i) {
      {
        const std::scoped_lock lock(mutex);
        ++permits;
      }
      condition.notify_one();
    }
  }).join();
  for (auto& waiter : waiters) {
    waiter.join();
  }
  EXPECT_EQ(woken, (std::vector<int>{30, 20, 10}));
}

}  // namespace
}  // namespace rclrt::realtime
