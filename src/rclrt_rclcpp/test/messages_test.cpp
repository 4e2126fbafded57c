// SPDX-License-Identifier: Apache-2.0
// Messages in every form that rclcpp delivers them in.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fixture.hpp"
#include "middleware.hpp"

namespace rclrt_rclcpp::test {
namespace {

using testing::ThrowsMessage;

template <typename E>
class Messages : public Ros {};
TYPED_TEST_SUITE(Messages, AllExecutors, ExecutorName);

TYPED_TEST(Messages, EveryMessageReachesItsSubscription) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::vector<int> got;
  std::atomic<std::size_t> count{0};
  const auto subscription = node->create_subscription<Message>("topic", rclcpp::QoS(100).reliable(),
                                                               [&](const Message& message) {
                                                                 got.push_back(message.int32_value);
                                                                 ++count;
                                                               });
  const auto publisher = node->create_publisher<Message>("topic", rclcpp::QoS(100).reliable());
  executor.add_node(node);
  const Spinning spinning(executor);
  Message message;
  std::vector<int> sent;
  for (int i = 0; i < 50; ++i) {
    message.int32_value = i;
    sent.push_back(i);
    publisher->publish(message);
  }
  EXPECT_TRUE(eventually([&] { return subscription->get_publisher_count() == 1 && count == 50; }));
  EXPECT_EQ(got, sent);
}

TYPED_TEST(Messages, KeepAllLosesNothingInABurst) {
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::atomic<int> got{0};
  const auto qos = rclcpp::QoS(rclcpp::KeepAll()).reliable();
  const auto subscription =
      node->create_subscription<Message>("topic", qos, [&](const Message&) { ++got; });
  const auto publisher = node->create_publisher<Message>("topic", qos);
  executor.add_node(node);
  for (int i = 0; i < 500; ++i) {
    publisher->publish(Message());  // not taken yet
  }
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return got == 500; })) << got;
}

TYPED_TEST(Messages, SerializedMessagesAndIntraProcessOnesArrive) {
  TypeParam executor;
  const auto node =
      std::make_shared<rclcpp::Node>("node", rclcpp::NodeOptions().use_intra_process_comms(true));
  std::atomic<int> typed{0};
  std::atomic<int> serialized{0};
  const auto a =
      node->create_subscription<Message>("topic", 10, [&](std::unique_ptr<Message>) { ++typed; });
  const auto other = std::make_shared<rclcpp::Node>("other");
  const auto b = other->create_subscription<Message>(
      "topic", 10, [&](std::shared_ptr<rclcpp::SerializedMessage>) { ++serialized; });
  const auto publisher = node->create_publisher<Message>("topic", 10);
  executor.add_node(node);
  executor.add_node(other);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 2; }));
  const Spinning spinning(executor);
  for (int i = 0; i < 5; ++i) {
    publisher->publish(std::make_unique<Message>());
  }
  EXPECT_TRUE(eventually([&] { return typed == 5 && serialized == 5; })) << typed << serialized;
}

/// Lets the entities that are made in its scope lend messages, which is off by default in rclcpp.
class Loans {
 public:
  Loans() { EXPECT_EQ(setenv(kVariable, "0", 1), 0); }
  ~Loans() { unsetenv(kVariable); }
  Loans(const Loans&) = delete;
  Loans& operator=(const Loans&) = delete;

 private:
  static constexpr const char* kVariable = "ROS_DISABLE_LOANED_MESSAGES";
};

TYPED_TEST(Messages, LoanedMessagesAreReadWhereTheyWereWrittenAndGivenBack) {
  const Loans loans;
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::vector<int> got;
  std::vector<const Message*> read;
  auto subscription = node->create_subscription<Message>("topic", 5, [&](const Message& message) {
    got.push_back(message.int32_value);
    read.push_back(&message);
    if (got.size() % 10 == 0) {
      throw std::runtime_error("the loan is given back all the same");
    }
  });
  const auto publisher = node->create_publisher<Message>("topic", 5);
  ASSERT_EQ(subscription->can_loan_messages(), middleware_lends());
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.add_node(node);
  std::vector<int> sent;
  std::vector<const Message*> written;
  for (int i = 0; i < 30; ++i) {
    auto loan = publisher->borrow_loaned_message();
    loan.get().int32_value = i;
    sent.push_back(i);
    written.push_back(&loan.get());
    publisher->publish(std::move(loan));
    const auto arrived = [&] {
      executor.spin_some();
      return got.size() == sent.size();
    };
    if (i % 10 == 9) {
      ASSERT_THAT([&] { eventually(arrived); },
                  ThrowsMessage<std::runtime_error>("the loan is given back all the same"));
    } else {
      ASSERT_TRUE(eventually(arrived)) << i;
    }
  }
  EXPECT_EQ(got, sent);
  EXPECT_EQ(read == written, middleware_lends());
  subscription.reset();  // the middleware keeps a reader that has lent something
  EXPECT_TRUE(eventually([&] { return publisher->get_subscription_count() == 0; }));
}

TYPED_TEST(Messages, OfLoanedMessagesTheNewestIsKept) {
  const Loans loans;
  TypeParam executor;
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::vector<int> got;
  auto subscription = node->create_subscription<Message>(
      "topic", 5, [&](const Message& message) { got.push_back(message.int32_value); });
  const auto publisher = node->create_publisher<Message>("topic", 5);
  ASSERT_EQ(subscription->can_loan_messages(), middleware_lends());
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  executor.set_timing(subscription,
                      {.priority = 1, .overload = rclrt::executor::Overload::kKeepLast});
  executor.add_node(node);
  std::vector<int> newest;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 4; ++i) {
      auto loan = publisher->borrow_loaned_message();
      loan.get().int32_value = 4 * round + i;
      publisher->publish(std::move(loan));
    }
    newest.push_back(4 * round + 3);
    ASSERT_TRUE(eventually([&] {
      executor.spin_some();
      return got.size() == newest.size();
    }));
  }
  EXPECT_EQ(got, newest);
  subscription.reset();
  EXPECT_TRUE(eventually([&] { return publisher->get_subscription_count() == 0; }));
}

}  // namespace
}  // namespace rclrt_rclcpp::test
