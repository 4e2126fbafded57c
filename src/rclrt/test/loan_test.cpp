// SPDX-License-Identifier: Apache-2.0
// Messages lent by the middleware, for publishers and for subscriptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <geometry_msgs/msg/pose_with_covariance.hpp>
#include <std_msgs/msg/string.hpp>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using geometry_msgs::msg::PoseWithCovariance;
using std_msgs::msg::String;
using testing::ThrowsMessage;

class Loans : public EveryExecutor {
 protected:
  Node node{context, "node"};
};
INSTANTIATE_TEST_SUITE_P(Every, Loans, ::testing::ValuesIn(executor_names()), parameter_name);

PoseWithCovariance pose(double x) {
  PoseWithCovariance message;
  message.pose.position.x = x;
  message.covariance.back() = -x;
  return message;
}

TEST_P(Loans, AMessageLentByTheMiddlewareArrivesUnchanged) {
  const auto spinning = executor();
  std::vector<double> received;
  const auto subscription = node.create_subscription<PoseWithCovariance>(
      "pose", 5, [&](const PoseWithCovariance& message) {
        EXPECT_EQ(message.covariance.back(), -message.pose.position.x);
        received.push_back(message.pose.position.x);
        if (received.size() == 3) {
          spinning->cancel();
        }
      });
  EXPECT_FALSE(subscription->can_loan_messages());  // rcl's default
  const auto publisher = node.create_publisher<PoseWithCovariance>("pose", 5);
  ASSERT_EQ(publisher->can_loan_messages(), middleware_lends());  // the type is plain
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  spinning->add_node(node);
  spinning->prepare();
  for (const double x : {1.0, 2.0, 3.0}) {
    auto loan = publisher->borrow();
    ASSERT_TRUE(loan);
    *loan = pose(x);
    EXPECT_TRUE(publisher->publish(std::move(loan)));
  }
  spinning->spin();
  EXPECT_EQ(received, (std::vector<double>{1, 2, 3}));
}

TEST_P(Loans, AMessageOfATypeThatIsNotPlainComesFromThePool) {
  const auto spinning = executor();
  std::string received;
  node.create_subscription<String>("text", 5, [&](const String& message) {
    received = message.data;
    spinning->cancel();
  });
  const auto publisher = node.create_publisher<String>("text", 5);
  EXPECT_FALSE(publisher->can_loan_messages());
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  auto loan = publisher->borrow();
  ASSERT_TRUE(loan);
  EXPECT_FALSE(publisher->borrow());  // PublisherOptions::loans is 1
  loan->data = "text";
  EXPECT_TRUE(publisher->publish(std::move(loan)));
  EXPECT_TRUE(publisher->borrow());
  spinning->add_node(node);
  spinning->spin();
  EXPECT_EQ(received, "text");
}

TEST_P(Loans, WhatTheUserAllowsIsReadWhereTheMiddlewareHasIt) {
  ASSERT_EQ(setenv("ROS_DISABLE_LOANED_MESSAGES", "0", 1), 0);
  const auto spinning = executor();
  std::vector<double> received;
  const PoseWithCovariance* written = nullptr;
  const PoseWithCovariance* read = nullptr;
  const auto subscription = node.create_subscription<PoseWithCovariance>(
      "pose", 5, [&](const PoseWithCovariance& message) {
        read = &message;
        received.push_back(message.pose.position.x);
        if (received.size() == 2) {
          throw std::runtime_error("the loan is given back all the same");
        }
      });
  EXPECT_EQ(subscription->can_loan_messages(), middleware_lends());
  unsetenv("ROS_DISABLE_LOANED_MESSAGES");
  const auto publisher = node.create_publisher<PoseWithCovariance>("pose", 5);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  publisher->publish(pose(1));
  auto loan = publisher->borrow();
  ASSERT_TRUE(loan);
  written = &*loan;
  *loan = pose(2);
  publisher->publish(std::move(loan));
  spinning->add_node(node);
  EXPECT_THAT([&] { spinning->spin(); },
              ThrowsMessage<std::runtime_error>("the loan is given back all the same"));
  EXPECT_EQ(received, (std::vector<double>{1, 2}));
  if (middleware_lends()) {
    EXPECT_EQ(read, written);  // one process: the reader shares the writer's memory
  }
}

TEST_P(Loans, ALoanThatASubscriptionOvertookReachesItAsACopy) {
  const auto spinning = executor();
  const auto publisher = node.create_publisher<PoseWithCovariance>("pose", 5);
  auto loan = publisher->borrow();
  ASSERT_TRUE(loan);
  double received = 0;
  node.create_subscription<PoseWithCovariance>("pose", 5,
                                               [&](const PoseWithCovariance& message) {
                                                 received = message.pose.position.x;
                                                 spinning->cancel();
                                               },
                                               {.intra_process = true});
  *loan = pose(7);
  EXPECT_TRUE(publisher->publish(std::move(loan)));
  spinning->add_node(node);
  spinning->spin();
  EXPECT_EQ(received, 7);
}

TEST(Loan, OneThatIsNotPublishedGoesBackAlsoAfterItsPublisherAndTheShutdown) {
  const auto context = make_context();
  Node node(context, "node");
  auto publisher = node.create_publisher<PoseWithCovariance>("pose", 5);
  for (int i = 0; i < 1000; ++i) {  // more than there can be at once
    ASSERT_TRUE(publisher->borrow());
  }
  auto kept = publisher->borrow();
  ASSERT_TRUE(kept);
  auto late = publisher->borrow();
  context->shutdown();
  EXPECT_FALSE(publisher->publish(std::move(late)));
  publisher.reset();
  kept->pose.position.x = 1;
  kept.reset();
}

}  // namespace
}  // namespace rclrt::test
