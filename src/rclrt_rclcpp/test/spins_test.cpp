// SPDX-License-Identifier: Apache-2.0
// Spins that return without a cancel.
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

/// Returns a node that runs only what a test makes: there are no parameter events.
rclcpp::Node::SharedPtr make_quiet_node() {
  return std::make_shared<rclcpp::Node>(
      "node",
      rclcpp::NodeOptions().start_parameter_services(false).start_parameter_event_publisher(false));
}

/// Returns a cancelled timer: the executor knows its next release, at which nothing is to run.
rclcpp::TimerBase::SharedPtr cancelled_timer(
    Executor& executor, const rclcpp::Node::SharedPtr& node,
    const std::function<void()>& callback = [] {}) {
  auto timer = node->create_wall_timer(20ms, callback);
  executor.add_node(node);
  executor.spin_some();
  timer->cancel();
  return timer;
}

template <typename E>
class Spins : public Ros {};
TYPED_TEST_SUITE(Spins, AllExecutors, ExecutorName);

TYPED_TEST(Spins, OnceIsWhatRunsAndNotATimerThatWasCancelled) {
  TypeParam executor;
  const auto node = make_quiet_node();
  int ran = 0;
  const auto cancelled = cancelled_timer(executor, node, [&] { ran += 10; });
  ran = 0;
  const auto timer = node->create_wall_timer(100ms, [&] { ++ran; });
  executor.spin_once(20s);
  EXPECT_EQ(ran, 1);
  executor.spin_once();
  EXPECT_EQ(ran, 2);
}

TYPED_TEST(Spins, OnceIsNotAnInstanceWhoseMessageWasTaken) {
  TypeParam executor;
  const auto node = make_quiet_node();
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  int ran = 0;
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](const Message&) { ran += 10; }, options);
  const auto publisher = node->create_publisher<Message>("topic", 10);
  executor.add_node(node);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  publisher->publish(Message());
  Message message;
  rclcpp::MessageInfo info;
  ASSERT_TRUE(eventually([&] { return subscription->take(message, info); }));
  const auto timer = node->create_wall_timer(100ms, [&] { ++ran; });
  executor.spin_once(20s);
  EXPECT_EQ(ran, 1);
}

TYPED_TEST(Spins, OnceWaitsAsLongAsItWasToldForSomethingThatRuns) {
  TypeParam executor;
  const auto node = make_quiet_node();
  const auto timer = cancelled_timer(executor, node);
  const auto start = std::chrono::steady_clock::now();
  executor.spin_once(50ms);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 50ms);
}

TYPED_TEST(Spins, ACancelEndsTheWaitForSomethingThatRuns) {
  TypeParam executor;
  const auto node = make_quiet_node();
  const auto timer = cancelled_timer(executor, node);
  std::thread other([&] {
    EXPECT_TRUE(eventually([&] { return executor.is_spinning(); }));
    executor.cancel();
  });
  executor.spin_once();  // without a limit, until the cancel
  other.join();
}

}  // namespace
}  // namespace rclrt_rclcpp::test
