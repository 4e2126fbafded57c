// SPDX-License-Identifier: Apache-2.0
// The peculiarities of rclcpp's scheduling that thesis section 2.3 lists, one test each.
#include "rclrt/executor/wait_set_executor.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_readiness.hpp"
#include "test_callback.hpp"

namespace rclrt::executor::test {
namespace {

class WaitSet : public ::testing::Test {
 protected:
  WaitSet() {
    auto readiness = std::make_unique<FakeReadiness>();
    source = readiness.get();
    executor = std::make_unique<WaitSetExecutor>(on_one_cpu(), std::move(readiness));
  }

  std::shared_ptr<TestCallback> add(const std::string& name, EntityType type, int level = 0,
                                    TestCallback::Body then = {}) {
    auto callback =
        std::make_shared<TestCallback>(CallbackOptions{.name = name, .type = type, .level = level},
                                       [this, name, then](const InstanceInfo&) {
                                         source->take_message(*by_name(name));
                                         order.push_back(name);
                                         if (then) {
                                           then({});
                                         }
                                         if (order.size() == stop_after) {
                                           executor->cancel();
                                         }
                                       });
    all.push_back(callback);
    executor->add(callback);
    return callback;
  }

  TestCallback* by_name(const std::string& name) {
    for (const auto& callback : all) {
      if (callback->name() == name) {
        return callback.get();
      }
    }
    return nullptr;
  }

  FakeReadiness* source = nullptr;
  std::unique_ptr<WaitSetExecutor> executor;
  std::vector<std::shared_ptr<TestCallback>> all;
  std::vector<std::string> order;
  std::size_t stop_after = 0;
};

TEST_F(WaitSet, TimersGoBeforeSubscriptionsBeforeServicesBeforeClients) {
  const auto client = add("client", EntityType::kClient);
  const auto service = add("service", EntityType::kService);
  const auto subscription = add("subscription", EntityType::kSubscription);
  // Due since long ago; on a grid so wide that it is released once.
  executor->add(std::make_shared<TestTimer>(
      timer_named("timer"), TimerOptions{.period_ns = 3'600'000'000'000},
      [&](const InstanceInfo&) { order.push_back("timer"); }));
  stop_after = 4;
  executor->prepare();
  for (const auto& callback : {client, service, subscription}) {
    source->add_message(*callback);
  }
  executor->spin();
  EXPECT_EQ(order, (std::vector<std::string>{"timer", "subscription", "service", "client"}));
}

TEST_F(WaitSet, OneTypeRunsInOrderOfRegistrationNotOfArrival) {
  const auto first = add("first", EntityType::kSubscription);
  const auto second = add("second", EntityType::kSubscription);
  stop_after = 2;
  executor->prepare();
  source->add_message(*second);
  source->add_message(*first);
  executor->spin();
  EXPECT_EQ(order, (std::vector<std::string>{"first", "second"}));
}

TEST_F(WaitSet, OneInstanceOfAnEntityRunsPerReadySet) {
  const auto a = add("a", EntityType::kSubscription);
  const auto b = add("b", EntityType::kSubscription);
  stop_after = 4;
  executor->prepare();
  for (int i = 0; i < 2; ++i) {
    source->add_message(*a);
    source->add_message(*b);
  }
  executor->spin();
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "a", "b"}));
}

TEST_F(WaitSet, WhatBecomesReadyInTheProcessingWindowWaitsForTheNextPollingPoint) {
  const auto urgent = add("urgent", EntityType::kSubscription, 9);
  const auto first = add("first", EntityType::kSubscription, 0,
                         [&](const InstanceInfo&) { source->add_message(*urgent); });
  const auto second = add("second", EntityType::kSubscription);
  stop_after = 3;
  executor->prepare();
  source->add_message(*first);
  source->add_message(*second);
  executor->spin();
  EXPECT_EQ(order, (std::vector<std::string>{"first", "second", "urgent"}));
}

TEST_F(WaitSet, ARunningCallbackIsNotPreempted) {
  bool urgent_ran_meanwhile = false;
  const auto urgent = add("urgent", EntityType::kSubscription, 9);
  const auto low = add("low", EntityType::kSubscription, 0, [&](const InstanceInfo&) {
    source->add_message(*urgent);
    const std::int64_t until = realtime::monotonic_now_ns() + 2'000'000;
    while (realtime::monotonic_now_ns() < until) {
    }
    urgent_ran_meanwhile = order.back() == "urgent";
  });
  stop_after = 2;
  executor->prepare();
  source->add_message(*low);
  executor->spin();
  EXPECT_FALSE(urgent_ran_meanwhile);
  EXPECT_EQ(order, (std::vector<std::string>{"low", "urgent"}));
}

TEST_F(WaitSet, ALateTimerRunsOnceAndTheReleasesItMissedAreDropped) {
  const std::int64_t period = 50'000'000;
  ExecutorOptions options = on_one_cpu();
  // 4.5 periods ago: the releases at 0..4 periods are due, the next is half a period away.
  options.epoch_ns = realtime::monotonic_now_ns() - 4 * period - period / 2;
  WaitSetExecutor late(options, std::make_unique<FakeReadiness>());
  std::vector<std::int64_t> releases;
  const auto timer = std::make_shared<TestTimer>(
      timer_named("t"), TimerOptions{.period_ns = period}, [&](const InstanceInfo& info) {
        releases.push_back(info.release_ns - *options.epoch_ns);
        if (releases.size() == 2) {
          late.cancel();
        }
      });
  late.add(timer);
  late.spin();
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases[0], 0);
  EXPECT_EQ(releases[1] % period, 0);
  EXPECT_GE(releases[1], 5 * period);
  EXPECT_EQ(timer->counters().dropped, static_cast<std::uint64_t>(releases[1] / period - 1));
}

}  // namespace
}  // namespace rclrt::executor::test
