// SPDX-License-Identifier: Apache-2.0
// Nodes that are added and removed while the executor spins, over the real middleware.
#include <gtest/gtest.h>

#include <atomic>
#include <std_msgs/msg/int64.hpp>
#include <std_srvs/srv/set_bool.hpp>
#include <thread>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::Int64;
using std_srvs::srv::SetBool;

class Changes : public EverySpinningExecutor {};
INSTANTIATE_TEST_SUITE_P(Every, Changes, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Changes, ANodeThatComesWhileSpinningReceivesAndAfterItsRemovalNothingOfItRuns) {
  Node source(context, "source");
  const auto publisher = source.create_publisher<Int64>("topic", 10);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> received{0};
    std::atomic<bool> gone{false};
    std::atomic<bool> ran_when_gone{false};
    Node node(context, "sink");
    node.create_subscription<Int64>("topic", 10,
                                    [&](const Int64&) {
                                      ran_when_gone = ran_when_gone || gone;
                                      ++received;
                                    },
                                    {.priority = round});
    executor_->add_node(node);
    ASSERT_TRUE(eventually([&] {
      publisher->publish(Int64{});
      return received > 3;
    }));
    executor_->remove_node(node);
    gone = true;
    publisher->publish(Int64{});
    EXPECT_FALSE(ran_when_gone);
  }
}

TEST_P(Changes, WhatANodeCreatesLaterIsAddedByAddingTheNodeAgain) {
  Node node(context, "node");
  node.create_service<SetBool>("serve",
                               [](const SetBool::Request& request, SetBool::Response& response) {
                                 response.success = request.data;
                               });
  executor_->add_node(node);
  const auto client = node.create_client<SetBool>("serve");
  executor_->add_node(node);
  ASSERT_TRUE(client->wait_for_service(std::chrono::seconds(20)));
  SetBool::Request request;
  request.data = true;
  auto sent = client->async_send_request(request);
  ASSERT_EQ(sent.future.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_TRUE(sent.future.get().success);
  executor_->remove_node(node);
}

TEST_P(Changes, ASubscriptionThatMovesToAnotherExecutorReceivesWhatCameMeanwhile) {
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  std::atomic<std::int64_t> last{0};
  const auto subscription = node.create_subscription<Int64>(
      "topic", 10, [&](const Int64& message) { last = message.data; });
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  Int64 message;
  const auto publish = [&](std::int64_t value) {
    message.data = value;
    publisher->publish(message);
  };
  executor_->add(subscription);
  publish(1);
  EXPECT_TRUE(eventually([&] { return last == 1; }));
  EXPECT_TRUE(executor_->remove(subscription));
  publish(2);
  const auto second = executor();
  second->add(subscription);
  std::thread spinning([&] { second->spin(); });
  EXPECT_TRUE(eventually([&] { return last == 2; }));
  second->cancel();
  spinning.join();
}

TEST_P(Changes, AMessageThatComesJustAsASubscriptionIsAddedIsDeliveredWithoutASecondOne) {
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("topic", 10);
  std::atomic<int> received{0};
  const auto subscription =
      node.create_subscription<Int64>("topic", 10, [&](const Int64&) { ++received; });
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int round = 1; round <= 100; ++round) {
    std::thread publishing([&] { publisher->publish(Int64{}); });
    executor_->add(subscription);
    publishing.join();
    ASSERT_TRUE(eventually([&] { return received == round; })) << "round " << round;
    ASSERT_TRUE(executor_->remove(subscription));
  }
}

}  // namespace
}  // namespace rclrt::test
