// SPDX-License-Identifier: Apache-2.0
// Spins that end by themselves, and the wait set with several threads, on real entities.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <std_msgs/msg/int32.hpp>
#include <std_srvs/srv/trigger.hpp>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std_msgs::msg::Int32;
using std_srvs::srv::Trigger;

class Spins : public EveryExecutor {};

TEST_P(Spins, SpinUntilCompleteBringsTheResponseOfAServiceInTheSameExecutor) {
  Node node(context, "node");
  const auto service = node.create_service<Trigger>(
      "trigger",
      [](const Trigger::Request&, Trigger::Response& response) { response.message = "done"; });
  const auto client = node.create_client<Trigger>("trigger");
  ASSERT_TRUE(client->wait_for_service(seconds(20)));
  const auto spinner = executor();
  spinner->add_node(node);
  auto sent = client->async_send_request(Trigger::Request{});
  ASSERT_EQ(spinner->spin_until_future_complete(sent.future, seconds(20)), SpinResult::kComplete);
  EXPECT_EQ(sent.future.get().message, "done");
}

TEST_P(Spins, SpinSomeRunsMessagesThatHaveArrived) {
  Node node(context, "node");
  int sum = 0;
  const auto subscription = node.create_subscription<Int32>(
      "numbers", 10, [&](const Int32& message) { sum += message.data; });
  const auto publisher = node.create_publisher<Int32>("numbers", 10);
  const auto spinner = executor();
  spinner->add_node(node);
  spinner->prepare();
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 1; i <= 4; ++i) {
    Int32 message;
    message.data = i;
    publisher->publish(message);
  }
  EXPECT_TRUE(eventually([&] {
    spinner->spin_some();
    return sum == 1 + 2 + 3 + 4;
  }));
}

TEST_P(Spins, SpinOnceSaysWhetherSomethingRan) {
  Node node(context, "node");
  const auto timer = node.create_wall_timer(milliseconds(5), [] {});
  const auto spinner = executor();
  EXPECT_FALSE(spinner->spin_once(milliseconds(1)));
  spinner->add_node(node);
  EXPECT_TRUE(spinner->spin_once(seconds(20)));
  EXPECT_GE(timer->counters().completed, 1U);
}

INSTANTIATE_TEST_SUITE_P(, Spins, ::testing::ValuesIn(executor_names()), parameter_name);

TEST(WaitSetThreads, CallbacksOfDifferentGroupsRunAtTheSameTime) {
  const auto context = make_context();
  Node node(context, "node");
  std::atomic<int> inside{0};
  std::atomic<int> met{0};
  WaitSetExecutor spinner(context, {.name = "test", .realtime = Realtime::kOff}, {.threads = 2});
  const auto meet = [&] {
    ++inside;
    met += eventually([&] { return inside >= 2; }) ? 1 : 0;
    if (met >= 2) {
      spinner.cancel();
    }
  };
  const auto service = node.create_service<Trigger>(
      "meet", [&](const Trigger::Request&, Trigger::Response&) { meet(); });
  const auto subscription =
      node.create_subscription<Int32>("meet_here", 10, [&](const Int32&) { meet(); });
  const auto publisher = node.create_publisher<Int32>("meet_here", 10);
  const auto client = node.create_client<Trigger>("meet");
  ASSERT_TRUE(client->wait_for_service(seconds(20)));
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  spinner.add_node(node);
  publisher->publish(Int32{});
  const auto sent = client->async_send_request(Trigger::Request{});
  spinner.spin();
  EXPECT_EQ(met, 2);
}

}  // namespace
}  // namespace rclrt::test
