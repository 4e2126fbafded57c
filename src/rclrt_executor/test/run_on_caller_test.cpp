// SPDX-License-Identifier: Apache-2.0
// Instances on the calling thread, and timers that are reset, under every executor to which work is
// announced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::ThrowsMessage;

class RunHere : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, RunHere, ::testing::ValuesIn(kEventDriven), kind_name);

auto callback_at(int level, TestCallback::Body body) {
  return std::make_shared<TestCallback>(named("L" + std::to_string(level), level), std::move(body));
}

TEST_P(RunHere, TheMostUrgentOfWhatIsReadyRunsFirstOnTheCallingThread) {
  auto executor = make(GetParam(), on_one_cpu());
  std::vector<int> order;
  const auto here = std::this_thread::get_id();
  const auto note = [&](int level) {
    return [&order, here, level](const InstanceInfo&) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      order.push_back(level);
    };
  };
  const auto low = callback_at(1, note(1));
  const auto high = callback_at(3, note(3));
  const auto middle = callback_at(2, note(2));
  for (const auto& each : {low, high, middle}) {
    executor->add(each);
  }
  executor->prepare();
  low->release_now();
  middle->release_now();
  high->release_now();
  while (executor->run_one_on_caller(milliseconds(0))) {
  }
  // thread_dispatch has one queue, in order of release, if priorities belong to its threads.
  const bool by_release = GetParam() == "thread_dispatch" && !executor->runs_to_completion();
  EXPECT_EQ(order, by_release ? std::vector({1, 2, 3}) : std::vector({3, 2, 1}));
}

TEST_P(RunHere, WhatBecameReadyLaterStays) {
  auto executor = make(GetParam(), on_one_cpu());
  std::shared_ptr<TestCallback> again;
  again = callback_at(2, [&](const InstanceInfo&) { again->release_now(); });
  const auto once = callback_at(1, [](const InstanceInfo&) {});
  executor->add(again);
  executor->add(once);
  executor->prepare();
  again->release_now();
  once->release_now();
  const std::int64_t now_ns = realtime::monotonic_now_ns();
  int runs = 0;
  while (executor->run_one_on_caller(milliseconds(0), now_ns)) {
    ++runs;
  }
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(again->counters().completed, 1U);
  EXPECT_EQ(once->counters().completed, 1U);
  EXPECT_EQ(again->counters().pending(), 1U);
}

TEST_P(RunHere, ItWaitsForWorkOfAnotherThreadAndForTimers) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto notified = callback_at(1, [](const InstanceInfo&) {});
  executor->add(notified);
  executor->prepare();
  std::thread teller([&, caller = gettid()] {
    EXPECT_TRUE(eventually_sleeps(caller));
    notified->release_now();
  });
  EXPECT_TRUE(executor->run_one_on_caller(hours(1)));
  EXPECT_EQ(notified->counters().completed, 1U);
  teller.join();

  const auto timer = std::make_shared<TestTimer>(
      timer_named("timer"), TimerOptions{.period_ns = 3'000'000, .offset_ns = 3'000'000},
      [](const InstanceInfo&) {});
  executor->add(timer);
  EXPECT_TRUE(executor->run_one_on_caller(hours(1)));
  EXPECT_EQ(timer->counters().completed, 1U);
}

TEST_P(RunHere, ItReturnsWhenTheTimeIsOverAndWhenSomebodyCancels) {
  auto executor = make(GetParam(), on_one_cpu());
  EXPECT_FALSE(executor->run_one_on_caller(milliseconds(2)));
  std::thread canceller([&, caller = gettid()] {
    EXPECT_TRUE(eventually_sleeps(caller));
    executor->cancel();
  });
  EXPECT_FALSE(executor->run_one_on_caller(hours(1)));
  canceller.join();
}

TEST_P(RunHere, ACancelThatIsTakenBackEndsNoSpin) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto callback = callback_at(1, [](const InstanceInfo&) {});
  executor->add(callback);
  executor->prepare();
  callback->release_now();
  executor->cancel();
  executor->clear_cancel();
  EXPECT_TRUE(executor->run_one_on_caller(milliseconds(0)));
}

TEST_P(RunHere, WhatACallbackThrowsReachesTheCaller) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto throws = callback_at(1, [](const InstanceInfo&) { throw std::runtime_error("x"); });
  executor->add(throws);
  executor->prepare();
  throws->release_now();
  EXPECT_THAT([&] { executor->run_one_on_caller(milliseconds(0)); },
              ThrowsMessage<std::runtime_error>("x"));
  throws->release_now();
  EXPECT_THAT([&] { executor->run_one_on_caller(milliseconds(0)); },
              ThrowsMessage<std::runtime_error>("x"));
}

TEST_P(RunHere, ThreadsMayFollowAndWhatWaitsRunsThere) {
  auto executor = make(GetParam(), on_one_cpu());
  const auto first = callback_at(1, [](const InstanceInfo&) {});
  std::shared_ptr<TestCallback> last =
      callback_at(1, [&](const InstanceInfo&) { executor->cancel(); });
  executor->add(first);
  executor->add(last);
  executor->prepare();
  first->release_now();
  EXPECT_TRUE(executor->run_one_on_caller(milliseconds(0)));
  first->release_now();
  last->release_now();
  executor->spin();
  EXPECT_EQ(first->counters().completed, 2U);
  first->release_now();
  EXPECT_TRUE(executor->run_one_on_caller(milliseconds(0)));
}

TEST(RunHereOfWaitSet, ItIsNotOffered) {
  auto executor = make("wait_set", on_one_cpu());
  EXPECT_THAT(
      [&] { executor->run_one_on_caller(milliseconds(0)); },
      ThrowsMessage<std::logic_error>(HasSubstr(
          "polls its entities for work, so it does not offer run_one_on_caller; use spin_once")));
}

/// A timer, the next release of which the test sets.
class MovableTimer : public TestTimer {
 public:
  using TestTimer::TestTimer;
  std::int64_t first_release_ns(std::int64_t /*epoch_ns*/) const noexcept override {
    return first_ns.load();
  }
  std::atomic<std::int64_t> first_ns{INT64_MAX};
};

class Restart : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, Restart, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(Restart, ATimerThatNeverComesIsBroughtForwardWhileSpinning) {
  auto executor = make(GetParam(), on_one_cpu());
  std::int64_t released_ns = 0;
  const auto timer = std::make_shared<MovableTimer>(timer_named("timer"),
                                                    TimerOptions{.period_ns = 3'600'000'000'000},
                                                    [&](const InstanceInfo& info) {
                                                      released_ns = info.release_ns;
                                                      executor->cancel();
                                                    });
  executor->add(timer);
  std::thread restarter([&] {
    while (executor->epoch_ns() == 0 || executor->epoch_ns() > INT64_MAX / 4) {
      std::this_thread::yield();
    }
    timer->first_ns.store(realtime::monotonic_now_ns() + 2'000'000);
    executor->restart(*timer);
  });
  executor->spin();
  restarter.join();
  EXPECT_EQ(timer->counters().completed, 1U);
  EXPECT_EQ(released_ns, timer->first_ns.load());
}

TEST_P(Restart, ATimerMayStopAndSetBackItselfFromItsCallback) {
  auto executor = make(GetParam(), on_one_cpu());
  int runs = 0;
  std::shared_ptr<MovableTimer> timer;
  timer = std::make_shared<MovableTimer>(
      timer_named("timer"),
      // Released once an hour by its period: an earlier release is due to a restart.
      TimerOptions{.period_ns = 3'600'000'000'000}, [&](const InstanceInfo&) {
        if (++runs == 3) {
          executor->cancel();
          timer->first_ns.store(INT64_MAX);
        } else {
          timer->first_ns.store(realtime::monotonic_now_ns() + 500'000);
        }
        executor->restart(*timer);
      });
  timer->first_ns.store(realtime::monotonic_now_ns());
  executor->add(timer);
  executor->spin();
  EXPECT_EQ(runs, 3);
  EXPECT_FALSE(executor->run_one_on_caller(milliseconds(5)));  // stopped
}

TEST_P(Restart, ATimerOfNobodyIsLeftAlone) {
  auto executor = make(GetParam(), on_one_cpu());
  MovableTimer timer(timer_named("timer"), TimerOptions{.period_ns = 1'000'000},
                     [](const InstanceInfo&) {});
  executor->restart(timer);
  executor->prepare();
  executor->restart(timer);
}

}  // namespace
}  // namespace rclrt::executor::test
