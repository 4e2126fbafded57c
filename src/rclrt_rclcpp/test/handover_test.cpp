// SPDX-License-Identifier: Apache-2.0
// No waiting work is lost when a callback is replaced, moved, or gets too many requests.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <rclcpp_action/rclcpp_action.hpp>
#include <test_msgs/action/fibonacci.hpp>
#include <test_msgs/srv/basic_types.hpp>
#include <utility>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using Fibonacci = test_msgs::action::Fibonacci;
using Service = test_msgs::srv::BasicTypes;

template <typename E>
class Handover : public Ros {};
TYPED_TEST_SUITE(Handover, AllExecutors, ExecutorName);

TYPED_TEST(Handover, WhatWaitsSurvivesANewDeadlineAndPolicy) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> got{0};
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](const Message&) { ++got; });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  executor.add_node(node);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 0; i < 5; ++i) {
    publisher->publish(Message());
  }
  executor.set_timing(rclcpp::SubscriptionBase::SharedPtr(subscription), {.deadline = 50ms});
  EXPECT_TRUE(eventually([&] {
    executor.spin_some();
    return got == 5;
  })) << got;
}

TYPED_TEST(Handover, WhatWaitsWithinTheProcessMovesToTheNextExecutor) {
  const auto node =
      std::make_shared<rclcpp::Node>("node", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<int> got{0};
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](std::unique_ptr<Message>) { ++got; });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  {
    TypeParam first;
    first.add_node(node);
    for (int i = 0; i < 3; ++i) {
      publisher->publish(std::make_unique<Message>());
    }
    first.remove_node(node);
  }
  TypeParam second;
  second.add_node(node);
  EXPECT_TRUE(eventually([&] {
    second.spin_some();
    return got == 3;
  })) << got;
}

TYPED_TEST(Handover, KeepAllMovesWithAllThatWaits) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> got{0};
  const auto qos = rclcpp::QoS(rclcpp::KeepAll()).reliable();
  const auto subscription =
      node->create_subscription<Message>("topic", qos, [&](const Message&) { ++got; });
  const auto publisher = node->create_publisher<Message>("topic", qos);
  {
    TypeParam first;
    first.add_node(node);
    for (int i = 0; i < 200; ++i) {
      publisher->publish(Message());
    }
  }
  TypeParam second;
  second.add_node(node);
  EXPECT_TRUE(eventually([&] {
    second.spin_some();
    return got == 200;
  })) << got;
}

TYPED_TEST(Handover, MoreRequestsThanADefaultQueueHoldsAreAllAnswered) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto qos = rclcpp::QoS(100).reliable();
  const auto service = node->create_service<Service>(
      "service", [](std::shared_ptr<Service::Request>, std::shared_ptr<Service::Response>) {}, qos);
  const auto client = node->create_client<Service>("service", qos);
  executor.add_node(node);
  ASSERT_TRUE(client->wait_for_service(20s));
  std::atomic<int> answers{0};
  for (int i = 0; i < 60; ++i) {
    client->async_send_request(std::make_shared<Service::Request>(),
                               [&](rclcpp::Client<Service>::SharedFuture) { ++answers; });
  }
  EXPECT_TRUE(eventually([&] {
    executor.spin_some();
    return answers == 60;
  })) << answers;
}

TYPED_TEST(Handover, RequestsThatComeBetweenTwoExecutorsAreAnswered) {
  for (const auto& qos : {rclcpp::QoS(100).reliable(), rclcpp::QoS(rclcpp::KeepAll()).reliable()}) {
    const auto node = std::make_shared<rclcpp::Node>("node");
    const auto service = node->create_service<Service>(
        "service", [](std::shared_ptr<Service::Request>, std::shared_ptr<Service::Response>) {},
        qos);
    const auto client = node->create_client<Service>("service", qos);
    {
      TypeParam first;
      first.add_node(node);
      ASSERT_TRUE(client->wait_for_service(20s));
      first.spin_some();
    }
    std::atomic<int> answers{0};
    for (int i = 0; i < 60; ++i) {
      client->async_send_request(std::make_shared<Service::Request>(),
                                 [&](rclcpp::Client<Service>::SharedFuture) { ++answers; });
    }
    TypeParam second;
    second.add_node(node);
    EXPECT_TRUE(eventually([&] {
      second.spin_some();
      return answers == 60;
    })) << answers;
  }
}

TYPED_TEST(Handover, AServiceWithoutRequestsIsLookedAtOnceWhenItMoves) {
  const auto node = std::make_shared<rclcpp::Node>("node");  // with the entities of its parameters
  for (int round = 0; round < 5; ++round) {
    TypeParam executor;
    executor.add_node(node);
    EXPECT_TRUE(eventually([&] {
      executor.spin_some();
      const auto all = executor.callbacks();
      return std::all_of(all.begin(), all.end(),
                         [](const auto& each) { return each.counters.pending() == 0; });
    }));
    for (const auto& each : executor.callbacks()) {
      if (each.kind == "service") {
        EXPECT_LE(each.counters.released, 1U) << each.name << " in round " << round;
      }
    }
  }
}

TYPED_TEST(Handover, AGoalMayEndOrComeWhileItsServerIsInNoExecutor) {
  using Goal = rclcpp_action::ServerGoalHandle<Fibonacci>;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::shared_ptr<Goal> accepted;
  const auto server = rclcpp_action::create_server<Fibonacci>(
      node, "action",
      [](const rclcpp_action::GoalUUID&, std::shared_ptr<const Fibonacci::Goal>) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](std::shared_ptr<Goal>) { return rclcpp_action::CancelResponse::ACCEPT; },
      [&](std::shared_ptr<Goal> goal) { accepted = std::move(goal); });
  const auto client = rclcpp_action::create_client<Fibonacci>(node, "action");
  std::shared_future<rclcpp_action::ClientGoalHandle<Fibonacci>::SharedPtr> answer;
  TypeParam first;
  first.add_node(node);
  ASSERT_TRUE(client->wait_for_action_server(20s));
  answer = client->async_send_goal(Fibonacci::Goal());
  ASSERT_EQ(first.spin_until_future_complete(answer, 20s), rclcpp::FutureReturnCode::SUCCESS);
  ASSERT_TRUE(accepted);
  first.remove_node(node);
  accepted->succeed(std::make_shared<Fibonacci::Result>());
  TypeParam second;
  second.add_node(node);
  auto result = client->async_get_result(answer.get());
  ASSERT_EQ(second.spin_until_future_complete(result, 20s), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(result.get().code, rclcpp_action::ResultCode::SUCCEEDED);
  second.remove_node(node);
  answer = client->async_send_goal(Fibonacci::Goal());  // without a listener
  TypeParam third;
  third.add_node(node);
  ASSERT_EQ(third.spin_until_future_complete(answer, 20s), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_TRUE(answer.get());
  third.remove_node(node);
}

TEST_F(Ros, AReentrantGroupLosesNoEventOnSeveralThreads) {
  PreemptiveExecutor executor;
  const auto node =
      std::make_shared<rclcpp::Node>("node", rclcpp::NodeOptions().use_intra_process_comms(true));
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  std::atomic<int> got{0};
  const auto subscription = node->create_subscription<Message>(
      "topic", 100, [&](std::unique_ptr<Message>) { ++got; }, options);
  const auto publisher = node->create_publisher<Message>("topic", 100);
  executor.add_node(node);
  const Spinning spinning(executor);
  for (int round = 1; round <= 200; ++round) {
    for (int i = 0; i < 30; ++i) {
      publisher->publish(std::make_unique<Message>());
    }
    ASSERT_TRUE(eventually([&] { return got == 30 * round; })) << got << " of " << 30 * round;
  }
}

TEST_F(Ros, AWaitableInAReentrantGroupLosesNoEventOnSeveralThreads) {
  PreemptiveExecutor executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  std::atomic<int> got{0};
  const auto bell = std::make_shared<Bell>([&] { ++got; });
  node->get_node_waitables_interface()->add_waitable(bell, group);
  executor.set_timing(rclcpp::Waitable::SharedPtr(bell),
                      {.deadline = 1s});  // more to do at the end
  executor.add_node(node);
  const Spinning spinning(executor);
  constexpr int kEvents = 18;  // a few more than there are credits
  for (int round = 1; round <= 5000; ++round) {
    for (int i = 0; i < kEvents; ++i) {
      bell->ring();
    }
    ASSERT_TRUE(eventually([&] { return got == kEvents * round; }))
        << got << " of " << kEvents * round;
  }
}

TYPED_TEST(Handover, WhatHasNoCreditWaitsForNoCallbackThatRuns) {
  if (!kHasWorkers<TypeParam>) {
    GTEST_SKIP() << "has no second thread for callbacks of one group or priority";
  }
  Options options;
  options.engine.workers_per_level = 2;
  TypeParam executor(options);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  std::atomic<int> runs{0};
  int count = 0;
  const auto run = [&] {
    if (runs.fetch_add(1) == 0) {
      EXPECT_TRUE(eventually([&] { return runs == count; })) << runs << " of " << count;
    }
  };
  const auto bell = std::make_shared<Bell>(run);
  node->get_node_waitables_interface()->add_waitable(bell, group);
  rclcpp::SubscriptionOptions in_group;
  in_group.callback_group = group;
  const auto qos = rclcpp::QoS(rclcpp::KeepAll()).reliable();
  const auto subscription =
      node->create_subscription<Message>("topic", qos, [&](const Message&) { run(); }, in_group);
  const auto publisher = node->create_publisher<Message>("topic", qos);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.add_node(node);
  {
    count = 18;  // of a waitable's 16 credits
    for (int i = 0; i < count; ++i) {
      bell->ring();
    }
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] { return runs == count; })) << runs;
  }
  if (!compat::kSubscriptionsOverlapThemselves) {
    return;
  }
  runs = 0;
  count = 100;  // of 64
  for (int i = 0; i < count; ++i) {
    publisher->publish(Message());
  }
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return runs == count; })) << runs;
}

}  // namespace
}  // namespace rclrt_rclcpp::test
