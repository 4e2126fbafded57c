// SPDX-License-Identifier: Apache-2.0
#include "rclrt/guard_condition.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

class GuardConditions : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(Every, GuardConditions, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(GuardConditions, ATriggerFromAnotherThreadRunsTheCallback) {
  const auto spinning = executor();
  Node node(context, "node");
  std::atomic<bool> ran{false};
  const auto condition = node.create_guard_condition([&] {
    ran = true;
    spinning->cancel();
  });
  spinning->add_node(node);
  std::thread other([&] { condition->trigger(); });
  spinning->spin();
  other.join();
  EXPECT_TRUE(ran);
}

TEST_P(GuardConditions, TriggersBeforePrepareAreOneRun) {
  const auto spinning = executor();
  Node node(context, "node");
  int runs = 0;
  const auto condition = node.create_guard_condition([&] { ++runs; });
  condition->trigger();
  condition->trigger();
  spinning->add_node(node);
  spinning->spin_some();
  spinning->spin_some();
  EXPECT_EQ(runs, 1);
}

TEST_P(GuardConditions, ATriggerWhileTheCallbackRunsRunsItOnceMore) {
  const auto spinning = executor();
  Node node(context, "node");
  int runs = 0;
  std::shared_ptr<GuardCondition> condition;
  condition = node.create_guard_condition([&] {
    if (++runs == 1) {
      condition->trigger();
      condition->trigger();
    } else {
      spinning->cancel();
    }
  });
  spinning->add_node(node);
  condition->trigger();
  spinning->spin();
  EXPECT_EQ(runs, 2);
}

TEST_P(GuardConditions, NoTriggerIsLostBetweenOneExecutorAndTheNext) {
  Node node(context, "node");
  std::atomic<int> triggered{0};
  std::atomic<int> seen{0};
  Executor* current = nullptr;
  const auto condition = node.create_guard_condition([&] {
    seen = triggered.load();
    if (seen % 20 == 0) {
      current->cancel();
    }
  });
  for (int round = 1; round <= 5; ++round) {
    const auto spinning = executor();
    current = spinning.get();
    spinning->add_node(node);
    std::thread other([&, until = round * 20] {
      while (triggered < until) {
        ++triggered;
        condition->trigger();
        eventually([&] { return seen == triggered; });
      }
    });
    spinning->spin();
    other.join();
  }
  EXPECT_EQ(seen.load(), 100);
}

TEST_P(GuardConditions, WhatASpinThatEndedByItselfDidNotRunIsRunByTheNext) {
  const auto spinning = executor();
  Node node(context, "node");
  std::atomic<int> runs{0};
  std::vector<std::shared_ptr<GuardCondition>> conditions;
  for (int i = 0; i < 3; ++i) {
    conditions.push_back(node.create_guard_condition([&] { ++runs; }));
  }
  spinning->add_node(node);
  for (const auto& condition : conditions) {
    condition->trigger();
  }
  while (runs < 3) {
    ASSERT_TRUE(spinning->spin_once(std::chrono::seconds(30))) << runs;
  }
}

}  // namespace
}  // namespace rclrt::test
