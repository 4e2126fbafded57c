// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/event_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace rclrt::realtime {
namespace {

TEST(EventCount, AWaitWhoseDeadlineHasPassedReturns) {
  EventCount event;
  const std::int64_t deadline = monotonic_now_ns() - 1;
  event.wait_until(event.prepare_wait(), deadline);
  EXPECT_GE(monotonic_now_ns(), deadline);
}

TEST(EventCount, AWaitNeverReturnsBeforeItsDeadlineWithoutANotification) {
  EventCount event;
  const std::int64_t deadline = monotonic_now_ns() + 5'000'000;
  while (monotonic_now_ns() < deadline) {  // spurious returns are allowed
    event.wait_until(event.prepare_wait(), deadline);
  }
  EXPECT_GE(monotonic_now_ns(), deadline);
}

TEST(EventCount, ANotificationBetweenPrepareAndWaitIsNotLost) {
  EventCount event;
  const auto key = event.prepare_wait();
  event.notify_one();
  event.wait(key);  // would sleep for ever if the notification were lost
  SUCCEED();
}

TEST(EventCount, ManyProducersAndConsumersLoseNoWakeUp) {
  constexpr int kProducers = 3;
  constexpr int kConsumers = 3;
  constexpr int kItemsPerProducer = 20'000;
  EventCount event;
  std::atomic<int> available{0};
  std::atomic<int> taken{0};
  std::atomic<bool> done{false};

  const auto try_take = [&] {
    int seen = available.load();
    while (seen > 0) {
      if (available.compare_exchange_weak(seen, seen - 1)) {
        return true;
      }
    }
    return false;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kConsumers; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        if (try_take()) {
          if (taken.fetch_add(1) + 1 == kProducers * kItemsPerProducer) {
            done.store(true);
            event.notify_all();
          }
          continue;
        }
        const auto key = event.prepare_wait();
        if (done.load() || available.load() > 0) {
          event.cancel_wait();
          if (done.load()) {
            return;
          }
          continue;
        }
        event.wait(key);
      }
    });
  }
  for (int i = 0; i < kProducers; ++i) {
    threads.emplace_back([&] {
      for (int item = 0; item < kItemsPerProducer; ++item) {
        available.fetch_add(1);
        event.notify_one();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();  // hangs when a wake-up is lost
  }
  EXPECT_EQ(taken.load(), kProducers * kItemsPerProducer);
}

}  // namespace
}  // namespace rclrt::realtime
