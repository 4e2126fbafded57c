// SPDX-License-Identifier: Apache-2.0
// Entries of a priorities file that name timers by their period, and groups by a callback.
#include <gmock/gmock.h>

#include <memory>
#include <rclcpp/rclcpp.hpp>

#include "fixture.hpp"
#include "priorities_file.hpp"

namespace rclrt_rclcpp::test {
namespace {

using testing::HasSubstr;

TEST_F(PrioritiesFile, ATimerIsNamedByItsPeriod) {
  Options options;
  options.priorities = write(R"(rclrt: 1
callbacks:
  - {node: /two, timer_period_ms: 5, priority: 3}
  - {node: /two, timer_period_ms: 1, priority: 8}
  - {node: /two, timer_period_ms: 7, priority: 9}
)");
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<rclcpp::Node>("two");
  const auto low_group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto high_group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto low = node->create_wall_timer(5ms, [] {}, low_group);
  const auto high = node->create_wall_timer(1ms, [] {}, high_group);
  executor.add_node(node);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 3);
  EXPECT_EQ(priority_of(executor, "timer", "0", 2), 8);
  EXPECT_THAT(executor.unmatched(true),
              testing::ElementsAre(testing::AllOf(
                  HasSubstr(":5: nothing fits node /two, timer with period 7 ms; the node has"),
                  HasSubstr("group 2, timer 0 (every 1 ms)"))));
}

TEST_F(PrioritiesFile, AWholeGroupIsNamedByOneOfItsCallbacks) {
  Options options;
  options.priorities = write(R"(rclrt: 1
callbacks:
  - {node: /node, timer_period_ms: 100, whole_group: true, priority: 6, deadline_ms: 20}
  - {node: /node, subscription: /own, priority: 7}
  - {node: /node, priority: 1}
)");
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  rclcpp::SubscriptionOptions in_group;
  in_group.callback_group = group;
  const auto timer = node->create_wall_timer(100ms, [] {}, group);
  const auto other =
      node->create_subscription<Message>("other", 10, [](const Message&) {}, in_group);
  const auto own = node->create_subscription<Message>("own", 10, [](const Message&) {}, in_group);
  const auto outside = node->create_subscription<Message>("outside", 10, [](const Message&) {});
  executor.add_node(node);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 6);
  EXPECT_EQ(priority_of(executor, "subscription", "/other", 1), 6);
  EXPECT_EQ(priority_of(executor, "subscription", "/own", 1), 7);  // more specific
  EXPECT_EQ(priority_of(executor, "subscription", "/outside"), 1);
  EXPECT_THAT(executor.unmatched(), testing::IsEmpty());
}

TEST_F(PrioritiesFile, AGroupHasThePriorityAsLongAsItHasTheCallback) {
  Options options;
  options.priorities = write(R"(rclrt: 1
callbacks:
  - {node: /node, subscription: /first, whole_group: true, priority: 6}
)");
  PreemptiveExecutor executor(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  rclcpp::SubscriptionOptions in_group;
  in_group.callback_group = group;
  const auto timer = node->create_wall_timer(100ms, [] {}, group);
  executor.add_node(node);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 0);
  auto first = node->create_subscription<Message>("first", 10, [](const Message&) {}, in_group);
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 6);
  first.reset();
  EXPECT_EQ(priority_of(executor, "timer", "0", 1), 0);
}

}  // namespace
}  // namespace rclrt_rclcpp::test
