// SPDX-License-Identifier: Apache-2.0
#include "rclrt/realtime/fake_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace rclrt::realtime {
namespace {

TEST(Clock, TheSteadyClockSleepsUntilItsDeadline) {
  Clock& clock = steady_clock();
  const std::int64_t deadline = clock.now_ns() + 2'000'000;
  clock.sleep_until(deadline);
  EXPECT_GE(clock.now_ns(), deadline);
  EXPECT_GE(monotonic_now_ns(), deadline);
}

TEST(FakeClock, StandsStillUntilItIsAdvanced) {
  FakeClock clock(100);
  EXPECT_EQ(clock.now_ns(), 100);
  EXPECT_EQ(clock.now_ns(), 100);
  clock.advance(5);
  EXPECT_EQ(clock.now_ns(), 105);
}

TEST(FakeClock, ASleepUntilATimeThatHasPassedReturnsAtOnce) {
  FakeClock clock(100);
  clock.sleep_until(100);
  EventCount event;
  clock.wait_until(event, event.prepare_wait(), 99);
  SUCCEED();
}

TEST(FakeClock, ASleeperWakesOnlyWhenItsDeadlineHasCome) {
  FakeClock clock;
  std::int64_t woken_at = 0;
  std::thread sleeper([&] {
    clock.sleep_until(50);
    woken_at = clock.now_ns();
  });
  clock.wait_for_sleepers(1);
  clock.advance(49);
  clock.wait_for_sleepers(1);  // still
  clock.advance(11);
  sleeper.join();
  EXPECT_EQ(woken_at, 60);  // the sleeper sees the time after the jump
}

TEST(FakeClock, ANotificationWakesASleeperBeforeItsDeadline) {
  FakeClock clock;
  EventCount event;
  std::atomic<bool> done{false};
  std::thread sleeper([&] {
    while (!done.load()) {
      const auto key = event.prepare_wait();
      if (done.load()) {
        event.cancel_wait();
        break;
      }
      clock.wait_until(event, key, 1'000);
    }
  });
  clock.wait_for_sleepers(1);
  done.store(true);
  event.notify_all();
  sleeper.join();
  EXPECT_EQ(clock.now_ns(), 0);
}

TEST(FakeClock, RunningUntilATimeWakesSleepersInTheOrderOfTheirDeadlines) {
  FakeClock clock;
  std::vector<std::string> order;  // no lock: the clock lets one thread run at a time
  std::atomic<bool> stop{false};
  const auto beat = [&](const char* name, std::int64_t period) {
    for (std::int64_t next = period;; next += period) {
      clock.sleep_until(next);
      if (stop) {
        return;
      }
      order.push_back(name + std::to_string(clock.now_ns()));
    }
  };
  std::thread three([&] { beat("three@", 3); });
  clock.wait_for_sleepers(1);
  std::thread five([&] { beat("five@", 5); });
  clock.run_until(15, 2);
  EXPECT_EQ(clock.now_ns(), 15);
  EXPECT_EQ(order, (std::vector<std::string>{"three@3", "five@5", "three@6", "three@9", "five@10",
                                             "three@12", "five@15", "three@15"}));
  stop = true;
  clock.advance(10);
  three.join();
  five.join();
}

TEST(FakeClock, WorkThatTakesTimeIsAnAdvanceInTheWorkersOwnThread) {
  FakeClock clock;
  std::vector<std::int64_t> starts;
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    for (std::int64_t next = 10; !stop; next += 10) {
      clock.sleep_until(next);
      starts.push_back(clock.now_ns());
      clock.advance(next == 10 ? 15 : 1);
    }
  });
  clock.run_until(40, 1);
  EXPECT_EQ(starts, (std::vector<std::int64_t>{10, 25, 30, 40}));
  stop = true;
  clock.advance(100);
  worker.join();
}

}  // namespace
}  // namespace rclrt::realtime
