// SPDX-License-Identifier: Apache-2.0
// Changes of priority while the executor spins, and their effect on the ceilings of groups.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "all_executors.hpp"
#include "spinning.hpp"

namespace rclrt::executor::test {
namespace {

class ChangesOfPriority : public KindTest {};
INSTANTIATE_TEST_SUITE_P(, ChangesOfPriority, ::testing::ValuesIn(kEventDriven), kind_name);

TEST_P(ChangesOfPriority, ACallbackThatComesAtAHigherLevelPreemptsTheRunningOne) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (GetParam() == "thread_dispatch" || GetParam() == "workshop") {
    GTEST_SKIP() << "threads of instances that run already keep their priority";
  }
  auto executor = make(GetParam(), on_one_cpu());
  std::atomic<bool> high_ran{false};
  bool preempted = false;
  const auto high = std::make_shared<TestCallback>(named("high", 2),
                                                   [&](const InstanceInfo&) { high_ran = true; });
  const auto low = std::make_shared<TestCallback>(named("low", 1), [&](const InstanceInfo&) {
    executor->add(high);
    high->release_now();
    preempted = busy_until([&] { return high_ran.load(); });
    executor->cancel();
  });
  executor->add(low);
  executor->prepare();
  low->release_now();
  executor->spin();
  EXPECT_TRUE(preempted);
}

TEST_P(ChangesOfPriority, ACallbackWithAChangedPriorityRunsAtIt) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!has_levels(GetParam())) {
    GTEST_SKIP() << "deadlines decide, and stay as they are";
  }
  auto executor = make(GetParam(), on_one_cpu());
  EventLog order;
  const auto changed = std::make_shared<TestCallback>(
      named("changed", 1), [&](const InstanceInfo&) { order.push_back("changed"); });
  const auto other = std::make_shared<TestCallback>(named("other", 2), [&](const InstanceInfo&) {
    order.push_back("other");
    if (order.events().size() == 4) {
      executor->cancel();
    }
  });
  // The most urgent one releases both and, the second time, exchanges their priorities.
  const auto top = std::make_shared<TestCallback>(named("top", 9), [&](const InstanceInfo& info) {
    if (info.release_ns == 2) {
      executor->set_level(changed, 3);
    }
    changed->release_now();
    other->release_now();
  });
  for (const auto& callback : {changed, other, top}) {
    executor->add(callback);
  }
  executor->prepare();
  const int before = executor->kernel_priority(1);
  std::thread driver([&] {
    top->release(1, 1);
    eventually([&] { return order.events().size() == 2; });
    top->release(2, 2);
  });
  executor->spin();
  driver.join();
  // The second time the cancel may come before the less urgent one has run.
  auto events = order.events();
  ASSERT_GE(events.size(), 3U);
  events.resize(3);
  EXPECT_EQ(events, (std::vector<std::string>{"other", "changed", "changed"}));
  EXPECT_EQ(executor->kernel_priority(1), before - 1) << "level 3 came in above it";
}

TEST_P(ChangesOfPriority, AGroupsCeilingIsTakenRightAfterALevelCameInAboveIt) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!has_levels(GetParam())) {
    GTEST_SKIP() << "deadlines decide, and stay as they are";
  }
  auto executor = make(GetParam(), on_one_cpu());
  const auto group = std::make_shared<Group>();
  std::atomic<int> priority{0};
  const auto low = std::make_shared<TestCallback>(
      named("low", 1, 10, group),
      [&](const InstanceInfo&) { priority = realtime::read_scheduling(0)->priority; });
  const auto high =
      std::make_shared<TestCallback>(named("high", 2, 10, group), [](const InstanceInfo&) {});
  executor->add(low);
  executor->add(high);
  executor->prepare();
  const Spinning spinning(*executor);
  for (int level = 3; level < 7; ++level) {
    priority = 0;
    low->release_now();
    ASSERT_TRUE(eventually([&] { return priority != 0; }));
    EXPECT_EQ(priority, executor->kernel_priority(2)) << "below level " << level;
    executor->add(every_millisecond([](const InstanceInfo&) {}, level));
  }
}

TEST_P(ChangesOfPriority, AMemberInsideItsGroupKeepsTheCeilingWhileALevelComesInAbove) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!has_levels(GetParam())) {
    GTEST_SKIP() << "deadlines decide, and stay as they are";
  }
  auto executor = make(GetParam(), on_one_cpu());
  const auto group = std::make_shared<Group>();
  EventLog order;
  int inside = 0;
  int ceiling = 0;
  const auto high = std::make_shared<TestCallback>(
      named("high", 3, 10, group), [&](const InstanceInfo&) { order.push_back("high"); });
  const auto middle = std::make_shared<TestCallback>(named("middle", 2), [&](const InstanceInfo&) {
    order.push_back("middle");
    executor->cancel();
  });
  const auto low =
      std::make_shared<TestCallback>(named("low", 1, 10, group), [&](const InstanceInfo&) {
        std::thread([&] {
          executor->add(
              std::make_shared<TestCallback>(named("new", 4), [](const InstanceInfo&) {}));
        }).join();
        inside = realtime::read_scheduling(0)->priority;
        ceiling = executor->kernel_priority(3);
        middle->release_now();
        high->release_now();
        busy_for(2'000'000);
        order.push_back("low ends");
      });
  for (const auto& callback : {low, middle, high}) {
    executor->add(callback);
  }
  executor->prepare();
  low->release_now();
  executor->spin();
  EXPECT_GE(inside, ceiling);
  EXPECT_EQ(order.events(), (std::vector<std::string>{"low ends", "high", "middle"}));
}

TEST_P(ChangesOfPriority, NoMemberIsEverBelowItsCeilingWhileLevelsComeIn) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  if (!has_levels(GetParam())) {
    GTEST_SKIP() << "deadlines decide, and stay as they are";
  }
  auto executor = make(GetParam(), on_all_cpus());
  const auto group = std::make_shared<Group>();
  std::atomic<int> runs{0};
  std::atomic<int> below{0};
  const auto low =
      std::make_shared<TestCallback>(named("low", 1, 10, group), [&](const InstanceInfo&) {
        const int inside = realtime::read_scheduling(0)->priority;
        // Read afterwards: levels only move down, so the ceiling was this high at least.
        below += inside < executor->kernel_priority(3) ? 1 : 0;
        ++runs;
      });
  executor->add(low);
  executor->add(
      std::make_shared<TestCallback>(named("high", 3, 10, group), [](const InstanceInfo&) {}));
  executor->prepare();
  const Spinning spinning(*executor);
  for (int level = 4; level < 60; ++level) {
    low->release_now();
    executor->add(std::make_shared<TestCallback>(named("new", level), [](const InstanceInfo&) {}));
  }
  EXPECT_TRUE(eventually([&] { return runs + low->counters().dropped == 56; }));
  EXPECT_EQ(below, 0);
}

}  // namespace
}  // namespace rclrt::executor::test
