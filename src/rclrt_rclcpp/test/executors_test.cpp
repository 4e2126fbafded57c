// SPDX-License-Identifier: Apache-2.0
// All features of rclcpp, under every executor.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <lifecycle_msgs/msg/transition.hpp>
#include <lifecycle_msgs/srv/change_state.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <rosgraph_msgs/msg/clock.hpp>
#include <test_msgs/action/fibonacci.hpp>
#include <test_msgs/srv/basic_types.hpp>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using Service = test_msgs::srv::BasicTypes;
using lifecycle_msgs::msg::Transition;
using lifecycle_msgs::srv::ChangeState;
using Fibonacci = test_msgs::action::Fibonacci;
using testing::ThrowsMessage;

template <typename E>
class Executors : public Ros {};
TYPED_TEST_SUITE(Executors, AllExecutors, ExecutorName);

TYPED_TEST(Executors, AServiceAnswersItsClient) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto service = node->create_service<Service>(
      "service",
      [](std::shared_ptr<Service::Request> request, std::shared_ptr<Service::Response> response) {
        response->int32_value = request->int32_value + 1;
      });
  const auto client = node->create_client<Service>("service");
  executor.add_node(node);
  ASSERT_TRUE(client->wait_for_service(20s));
  for (int i = 0; i < 20; ++i) {
    auto request = std::make_shared<Service::Request>();
    request->int32_value = i;
    auto future = client->async_send_request(request);
    ASSERT_EQ(executor.spin_until_future_complete(future, 20s), rclcpp::FutureReturnCode::SUCCESS);
    EXPECT_EQ(future.get()->int32_value, i + 1);
  }
}

TYPED_TEST(Executors, AnActionRunsToItsResultWithFeedback) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto server = rclcpp_action::create_server<Fibonacci>(
      node, "action",
      [](const rclcpp_action::GoalUUID&, std::shared_ptr<const Fibonacci::Goal>) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](std::shared_ptr<rclcpp_action::ServerGoalHandle<Fibonacci>>) {
        return rclcpp_action::CancelResponse::ACCEPT;
      },
      [](std::shared_ptr<rclcpp_action::ServerGoalHandle<Fibonacci>> goal) {
        auto feedback = std::make_shared<Fibonacci::Feedback>();
        feedback->sequence = {0, 1};
        goal->publish_feedback(feedback);
        auto result = std::make_shared<Fibonacci::Result>();
        result->sequence = {0, 1, 1, 2};
        goal->succeed(result);
      });
  const auto client = rclcpp_action::create_client<Fibonacci>(node, "action");
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(client->wait_for_action_server(20s));
  std::atomic<int> feedbacks{0};
  rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
  options.feedback_callback = [&](auto, auto) { ++feedbacks; };
  auto goal = client->async_send_goal(Fibonacci::Goal(), options);
  ASSERT_EQ(goal.wait_for(20s), std::future_status::ready);
  ASSERT_TRUE(goal.get());
  auto result = client->async_get_result(goal.get());
  ASSERT_EQ(result.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(result.get().code, rclcpp_action::ResultCode::SUCCEEDED);
  EXPECT_EQ(result.get().result->sequence, (std::vector<int>{0, 1, 1, 2}));
}

TYPED_TEST(Executors, ALifecycleNodeChangesItsState) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp_lifecycle::LifecycleNode>("managed");
  executor.add_node(node->get_node_base_interface());
  const Spinning spinning(executor);
  const auto user = std::make_shared<rclcpp::Node>("user");
  const auto client = user->create_client<ChangeState>("/managed/change_state");
  ASSERT_TRUE(client->wait_for_service(20s));
  for (const auto id : {Transition::TRANSITION_CONFIGURE, Transition::TRANSITION_ACTIVATE}) {
    const auto request = std::make_shared<ChangeState::Request>();
    request->transition.id = id;
    auto future = client->async_send_request(request);
    ASSERT_EQ(rclcpp::spin_until_future_complete(user, future, 20s),
              rclcpp::FutureReturnCode::SUCCESS);
    EXPECT_TRUE(future.get()->success);
  }
  EXPECT_EQ(node->get_current_state().label(), "active");
}

TYPED_TEST(Executors, ParametersAreServedToOtherNodes) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  node->declare_parameter("speed", 3);
  executor.add_node(node);
  const Spinning spinning(executor);
  const auto asker = std::make_shared<rclcpp::Node>("asker");
  const auto client = std::make_shared<rclcpp::SyncParametersClient>(asker, "node");
  ASSERT_TRUE(client->wait_for_service(20s));
  EXPECT_EQ(client->get_parameter<int>("speed"), 3);
}

TYPED_TEST(Executors, AQosEventIsTold) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> matched{0};
  rclcpp::SubscriptionOptions options;
  options.event_callbacks.matched_callback = [&](rclcpp::MatchedInfo&) { ++matched; };
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [](const Message&) {}, options);
  executor.add_node(node);
  const Spinning spinning(executor);
  const auto publisher = node->create_publisher<Message>("topic", 10);
  EXPECT_TRUE(eventually([&] { return matched > 0; }));
}

TYPED_TEST(Executors, WhatIsMadeWhileSpinningIsRun) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  executor.add_node(node);
  const Spinning spinning(executor);
  std::atomic<int> ticks{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++ticks; });
  EXPECT_TRUE(eventually([&] { return ticks > 3; }));
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  std::atomic<int> more{0};
  const auto second = node->create_wall_timer(1ms, [&] { ++more; }, group);
  EXPECT_TRUE(eventually([&] { return more > 3; }));
}

TYPED_TEST(Executors, ACancelledTimerRestsAndARestartedOneRunsOnePeriodLater) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> ticks{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++ticks; });
  std::atomic<int> others{0};
  const auto other = node->create_wall_timer(1ms, [&] { ++others; });
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return ticks > 3; }));
  timer->cancel();
  const int at_cancel = ticks;
  ASSERT_TRUE(eventually([&, before = others.load()] { return others > before + 20; }));
  const int rested = ticks;
  EXPECT_LE(rested, at_cancel + 2) << "one that runs may end, and one that was due may run";
  timer->reset();
  EXPECT_TRUE(eventually([&] { return ticks > rested; }));
}

TYPED_TEST(Executors, AWatchdogThatIsResetInTimeNeverFires) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> fired{0};
  std::atomic<int> kicks{0};
  const auto watchdog = node->create_wall_timer(3s, [&] { ++fired; });
  const auto kicker = node->create_wall_timer(1ms, [&] {
    watchdog->reset();
    ++kicks;
  });
  executor.add_node(node);
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return kicks > 500; }));
  EXPECT_EQ(fired, 0);
}

TYPED_TEST(Executors, ATimerOnSimulatedTimeFollowsTheClock) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>(
      "node", rclcpp::NodeOptions().append_parameter_override("use_sim_time", true));
  std::atomic<int> ticks{0};
  const auto world = std::make_shared<rclcpp::Node>("world");
  const auto clock =
      world->create_publisher<rosgraph_msgs::msg::Clock>("/clock", rclcpp::ClockQoS());
  executor.add_node(node);
  const Spinning spinning(executor);
  const auto set = [&](int seconds) {
    rosgraph_msgs::msg::Clock message;
    message.clock.sec = seconds;
    clock->publish(message);
    return eventually([&] {
      clock->publish(message);
      return node->now().seconds() >= seconds;
    });
  };
  ASSERT_TRUE(eventually([&] { return clock->get_subscription_count() > 0; }));
  ASSERT_TRUE(set(100));
  const auto timer =
      rclcpp::create_timer(node, node->get_clock(), rclcpp::Duration(1s), [&] { ++ticks; });
  std::atomic<int> real{0};
  const auto real_timer = node->create_wall_timer(1ms, [&] { ++real; });
  ASSERT_TRUE(set(101));
  EXPECT_TRUE(eventually([&] { return ticks == 1; }));
  // Real time moves on, the clock does not.
  ASSERT_TRUE(eventually([&, before = real.load()] { return real > before + 20; }));
  EXPECT_EQ(ticks, 1);
  ASSERT_TRUE(set(102));
  EXPECT_TRUE(eventually([&] { return ticks == 2; }));
}

TYPED_TEST(Executors, ATimerOnTheNodesClockRuns) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> ticks{0};
  const auto timer = node->create_timer(2ms, [&] { ++ticks; });
  executor.add_node(node);
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return ticks > 10; }));
}

TYPED_TEST(Executors, WhatWaitsMovesToTheNextExecutor) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> got{0};
  const auto subscription =
      node->create_subscription<Message>("topic", 10, [&](const Message&) { ++got; });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  {
    TypeParam first;
    first.add_node(node);
    for (int i = 0; i < 3; ++i) {
      publisher->publish(Message());  // announced to the first executor, which runs none
    }
    first.remove_node(node);
  }
  TypeParam second;
  second.add_node(node);
  EXPECT_TRUE(eventually([&] {
    second.spin_some();
    return got == 3;
  }));
}

TYPED_TEST(Executors, AfterRemoveNothingRuns) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> ticks{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++ticks; });
  const auto resident = std::make_shared<rclcpp::Node>("resident");
  std::atomic<int> others{0};
  const auto other = resident->create_wall_timer(1ms, [&] { ++others; });
  executor.add_node(resident);
  const Spinning spinning(executor);
  for (int round = 0; round < 20; ++round) {
    const int before = ticks;
    executor.add_node(node);
    ASSERT_TRUE(eventually([&] { return ticks > before; }));
    executor.remove_node(node);
    const int removed = ticks;
    ASSERT_TRUE(eventually([&, since = others.load()] { return others > since + 3; }));
    ASSERT_EQ(ticks, removed);
  }
}

TYPED_TEST(Executors, AnExceptionOfACallbackEndsSpinAndIsThrown) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(1ms, [] { throw std::runtime_error("broken"); });
  executor.add_node(node);
  EXPECT_THAT([&] { executor.spin(); }, ThrowsMessage<std::runtime_error>("broken"));
  EXPECT_FALSE(executor.is_spinning());
}

TYPED_TEST(Executors, ShutdownEndsSpin) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(5ms, [] { rclcpp::shutdown(); });
  executor.add_node(node);
  executor.spin();
  executor.spin();  // returns at once
  EXPECT_FALSE(rclcpp::ok());
}

TYPED_TEST(Executors, TakesRclcppsOptions) {
  const auto context = std::make_shared<rclcpp::Context>();
  context->init(0, nullptr);
  rclcpp::ExecutorOptions options;
  options.context = context;
  TypeParam executor(options);
  context->shutdown("the executor's own");
  executor.spin();  // returns: its context is not the default one
}

TYPED_TEST(Executors, ACancelBeforeASpinIsNotKept) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  int ticks = 0;
  const auto timer = node->create_wall_timer(1ms, [&] {
    if (++ticks == 3) {
      executor.cancel();
    }
  });
  executor.add_node(node);
  executor.cancel();
  executor.spin();
  EXPECT_EQ(ticks, 3);
}

TYPED_TEST(Executors, ADroppedEntityEndsAndTheOthersGoOn) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  auto a = node->create_wall_timer(1ms, [&] { ++first; });
  const auto b = node->create_wall_timer(1ms, [&] { ++second; });
  executor.add_node(node);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return first > 3 && second > 3; }));
  std::weak_ptr<rclcpp::TimerBase> gone = a;
  a.reset();
  ASSERT_TRUE(eventually([&] { return gone.expired(); }));
  const int before = second;
  EXPECT_TRUE(eventually([&] { return second > before + 3; }));
  EXPECT_TRUE(eventually([&] {
    const auto all = executor.callbacks();
    return std::count_if(all.begin(), all.end(),
                         [](const CallbackInfo& each) { return each.kind == "timer"; }) == 1;
  }));
}

TYPED_TEST(Executors, AGroupThatIsNotAddedAutomaticallyRunsInItsOwnExecutor) {
  TypeParam first;
  TypeParam second;
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto group =
      node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
  std::atomic<int> ticks{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++ticks; }, group);
  std::atomic<int> others{0};
  const auto other = node->create_wall_timer(1ms, [&] { ++others; });
  first.add_node(node);
  const Spinning spinning(first);
  ASSERT_TRUE(eventually([&] { return others > 20; }));
  EXPECT_EQ(ticks, 0);
  second.add_callback_group(group, node->get_node_base_interface());
  EXPECT_TRUE(group->get_associated_with_executor_atomic());
  EXPECT_TRUE(group->can_be_taken_from());
  const Spinning also(second);
  EXPECT_TRUE(eventually([&] { return ticks > 3; }));
}

}  // namespace
}  // namespace rclrt_rclcpp::test
