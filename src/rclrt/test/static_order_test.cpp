// SPDX-License-Identifier: Apache-2.0
// Messages that a set takes before its first callback runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sensor_msgs/msg/imu.hpp>
#include <std_msgs/msg/int64.hpp>
#include <std_msgs/msg/string.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using sensor_msgs::msg::Imu;
using std_msgs::msg::Int64;
using std_msgs::msg::String;
using testing::ThrowsMessage;

/// How messages arrive: handed over, or through the middleware, which can lend messages of a fixed
/// size.
enum class Way { kHandedOver, kLent, kCopied };

class LogicalExecutionTime : public ::testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam() == Way::kLent) {
      ASSERT_EQ(setenv("ROS_DISABLE_LOANED_MESSAGES", "0", 1), 0);
    }
  }
  void TearDown() override { unsetenv("ROS_DISABLE_LOANED_MESSAGES"); }
  std::unique_ptr<StaticOrderExecutor> executor(bool ahead) const {
    return std::make_unique<StaticOrderExecutor>(
        context, ExecutorOptions{.name = "test"},
        StaticOrderOptions{.logical_execution_time = ahead});
  }
  CallbackOptions options(int priority) const {
    return {.priority = priority, .intra_process = GetParam() == Way::kHandedOver};
  }

  std::shared_ptr<Context> context = make_context();
  Node node{context, "node"};
};
INSTANTIATE_TEST_SUITE_P(, LogicalExecutionTime,
                         ::testing::Values(Way::kHandedOver, Way::kLent, Way::kCopied),
                         [](const auto& each) {
                           return std::string(each.param == Way::kHandedOver ? "HandedOver"
                                              : each.param == Way::kLent     ? "Lent"
                                                                             : "Copied");
                         });

template <typename T>
T numbered(std::int64_t number) {
  T message;
  if constexpr (std::is_same_v<T, Int64>) {
    message.data = number;
  } else {
    message.data = std::to_string(number);
  }
  return message;
}

/// A callback that is before the subscription in the set publishes a second message, which replaces
/// the first. Returns the messages that the subscription gets.
template <typename T>
std::vector<T> received(Node& node, Executor& executor, const CallbackOptions& options) {
  std::vector<T> result;
  const auto publisher = node.create_publisher<T>("value", 1);
  const auto subscription = node.create_subscription<T>(
      "value", 1, [&](const T& message) { result.push_back(message); }, options);
  const auto first = node.create_guard_condition(
      [&] {
        publisher->publish(numbered<T>(2));
        EXPECT_TRUE(eventually([&] { return subscription->counters().released == 2; }));
      },
      {.priority = 9});
  EXPECT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.add_node(node);
  executor.prepare();
  publisher->publish(numbered<T>(1));
  EXPECT_TRUE(eventually([&] { return subscription->counters().released == 1; }));
  first->trigger();
  executor.spin_some();
  executor.spin_some();  // the messages that came meanwhile
  EXPECT_EQ(subscription->counters().pending(), 0U);
  executor.remove_node(node);
  return result;
}

TEST_P(LogicalExecutionTime, ASubscriptionWorksWithWhatThereWasWhenItsSetBegan) {
  for (const bool ahead : {true, false}) {
    const std::string number = ahead ? "set" : "none";
    Node own(context, number);
    const auto run = executor(ahead);
    if (GetParam() == Way::kCopied) {
      const auto strings = received<String>(own, *run, options(1));
      ASSERT_EQ(strings.size(), ahead ? 2U : 1U);
      EXPECT_EQ(strings.front().data, ahead ? "1" : "2");
      EXPECT_EQ(strings.back().data, "2");
      continue;
    }
    const auto numbers = received<Int64>(own, *run, options(1));
    ASSERT_EQ(numbers.size(), ahead ? 2U : 1U);
    EXPECT_EQ(numbers.front().data, ahead ? 1 : 2);
    EXPECT_EQ(numbers.back().data, 2);
  }
}

/// Repeats more often than there are messages to lend or to hand over.
TEST_P(LogicalExecutionTime, AMessageThatWasTakenGoesBackWhateverBecomesOfItsInstance) {
  const auto publisher = node.create_publisher<Int64>("value", 1);
  std::atomic<int> ran{0};
  const auto subscription = node.create_subscription<Int64>(
      "value", 1,
      [&](const Int64&) {
        ++ran;
        throw std::runtime_error("bad message");
      },
      options(1));
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int round = 0; round < 30; ++round) {
    const auto run = executor(true);
    const auto remove =
        node.create_guard_condition([&] { run->remove(subscription); }, {.priority = 9});
    run->add(subscription);
    run->add(remove);
    run->prepare();
    const auto before = subscription->counters().released;
    EXPECT_TRUE(publisher->publish(numbered<Int64>(round)));
    EXPECT_TRUE(eventually([&] { return subscription->counters().released > before; }));
    if (round % 2 == 0) {
      EXPECT_THAT([&] { run->spin_some(); }, ThrowsMessage<std::runtime_error>("bad message"));
    } else {
      remove->trigger();
      run->spin_some();
    }
    EXPECT_EQ(subscription->counters().pending(), 0U);
  }
  EXPECT_EQ(ran, 15);
}

TEST_P(LogicalExecutionTime, ASynchroniserGetsTheSetsOfItsMessages) {
  const auto run = executor(true);
  std::vector<int> sets;
  const auto sync = node.create_synchronizer<Imu, Imu>(
      {"left", "right"}, 10, {.policy = SyncPolicy::kExact},
      [&](const Imu& left, const Imu& right) {
        EXPECT_EQ(left.header.stamp.sec, right.header.stamp.sec);
        sets.push_back(left.header.stamp.sec);
        if (sets.size() == 3) {
          run->cancel();
        }
      },
      options(1));
  const auto left = node.create_publisher<Imu>("left", 10);
  const auto right = node.create_publisher<Imu>("right", 10);
  ASSERT_TRUE(eventually(
      [&] { return left->get_subscription_count() == 1 && right->get_subscription_count() == 1; }));
  run->add_node(node);
  run->prepare();
  for (const std::int32_t sec : {1, 2, 3}) {
    Imu message;
    message.header.stamp.sec = sec;
    left->publish(message);
    right->publish(message);
  }
  run->spin();
  EXPECT_EQ(sets, (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace rclrt::test
