// SPDX-License-Identifier: Apache-2.0
// Waiting work is run as its policy requires, and counted accordingly.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>
#if __has_include(<test_msgs/msg/keyed_string.hpp>)
#include <test_msgs/msg/keyed_string.hpp>
#define RCLRT_HAS_KEYS 1
#endif

#include "fixture.hpp"
#include "middleware.hpp"

namespace rclrt_rclcpp::test {
namespace {

/// Returns the sum of the counters of the subscriptions to "topic".
engine::Counters counters_of_topic(Executor& executor) {
  engine::Counters sum;
  for (const CallbackInfo& each : executor.callbacks()) {
    if (each.kind == "subscription" && each.name == "/topic") {
      sum.released += each.counters.released;
      sum.completed += each.counters.completed;
      sum.dropped += each.counters.dropped;
      sum.missed += each.counters.missed;
    }
  }
  return sum;
}

/// Spins until nothing waits. The time limit is for each step: with KEEP_ALL a spin may run only
/// one message, and on a busy machine hundreds of spins take longer than the limit of one.
bool run_all(Executor& executor) {
  engine::Counters now = counters_of_topic(executor);
  do {
    const std::uint64_t ended = now.completed + now.dropped;
    const auto goes_on = [&] {
      executor.spin_some();
      now = counters_of_topic(executor);
      return now.pending() == 0 || now.completed + now.dropped > ended;
    };
    if (!eventually(goes_on)) {
      return false;
    }
  } while (now.pending() > 0);
  return true;
}

template <typename E>
class Backlog : public Ros {
 protected:
  E executor;
  rclcpp::Node::SharedPtr node = std::make_shared<rclcpp::Node>("node");

  /// Returns how many of `count` messages are run; all of them wait before the first is taken.
  int run(const rclcpp::QoS& qos, int count) {
    int got = 0;
    const auto subscription =
        node->create_subscription<Message>("topic", qos, [&](const Message&) { ++got; });
    const auto publisher = node->create_publisher<Message>("topic", qos);
    executor.add_node(node);
    publish(*publisher, count);
    EXPECT_TRUE(run_all(executor));
    counters = counters_of_topic(executor);
    return got;
  }
  engine::Counters counters;  // after the run

  void publish(rclcpp::Publisher<Message>& publisher, int count) {
    ASSERT_TRUE(eventually([&] { return publisher.get_subscription_count() == 1; }));
    Message message;
    for (message.int32_value = 1; message.int32_value <= count; ++message.int32_value) {
      publisher.publish(message);
    }
  }
};
TYPED_TEST_SUITE(Backlog, AllExecutors, ExecutorName);

TYPED_TEST(Backlog, WhatFitsIsOneInstanceEach) {
  EXPECT_EQ(this->run(rclcpp::QoS(10), 10), 10);
  EXPECT_EQ(this->counters.released, 10U);
  EXPECT_EQ(this->counters.completed, 10U);
}

TYPED_TEST(Backlog, AfterAnOverflowOneInstanceLooksInVain) {
  EXPECT_EQ(this->run(rclcpp::QoS(10), 25), 10);
  EXPECT_EQ(this->counters.released, 25U + 1U);
  EXPECT_EQ(this->counters.completed, 10U);
}

TYPED_TEST(Backlog, TheNewestIsRunWhileItSpinsAndOverflows) {
  const auto group = this->node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  std::atomic<int> newest{0};
  const auto subscription = this->node->template create_subscription<Message>(
      "topic", rclcpp::QoS(1).reliable(),
      [&](const Message& message) {
        int known = newest;
        while (known < message.int32_value &&
               !newest.compare_exchange_weak(known, message.int32_value)) {
        }
      },
      options);
  const auto publisher =
      this->node->template create_publisher<Message>("topic", rclcpp::QoS(1).reliable());
  this->executor.add_node(this->node);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  const Spinning spinning(this->executor);
  Message message;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 1 + round % 7; ++i) {
      ++message.int32_value;
      publisher->publish(message);
    }
    ASSERT_TRUE(eventually([&] { return newest == message.int32_value; })) << newest;
  }
}

TYPED_TEST(Backlog, OfKeepAllNothingIsDropped) {
  EXPECT_EQ(this->run(rclcpp::QoS(rclcpp::KeepAll()).reliable(), 500), 500);
  EXPECT_EQ(this->counters.released, 500U);
  EXPECT_EQ(this->counters.completed, 500U);
}

TYPED_TEST(Backlog, OfKeepAllOneInstanceMayStandForAll) {
  for (const auto policy : {engine::Overload::kKeepLast, engine::Overload::kSkipIfRunning}) {
    TypeParam fresh;
    std::vector<int> got;
    const auto qos = rclcpp::QoS(rclcpp::KeepAll()).reliable();
    const auto subscription = this->node->template create_subscription<Message>(
        "topic", qos, [&](const Message& message) { got.push_back(message.int32_value); });
    const auto publisher = this->node->template create_publisher<Message>("topic", qos);
    fresh.set_timing(rclcpp::SubscriptionBase::SharedPtr(subscription), {.overload = policy});
    fresh.add_node(this->node);
    this->publish(*publisher, 500);
    ASSERT_TRUE(run_all(fresh));
    const engine::Counters of_topic = counters_of_topic(fresh);
    EXPECT_EQ(got, std::vector<int>{500});
    EXPECT_EQ(of_topic.released, 500U);
    EXPECT_EQ(of_topic.completed, 1U);
    EXPECT_EQ(of_topic.dropped, 499U);
  }
}

TYPED_TEST(Backlog, WhatWaitsBehindOneInstanceIsRunUnderANewPolicy) {
  int got = 0;
  const auto subscription = this->node->template create_subscription<Message>(
      "topic", 10, [&](const Message&) { ++got; });
  const auto publisher = this->node->template create_publisher<Message>("topic", 10);
  const auto set_policy = [&](engine::Overload policy) {
    this->executor.set_timing(rclcpp::SubscriptionBase::SharedPtr(subscription),
                              {.overload = policy});
  };
  set_policy(engine::Overload::kKeepLast);
  this->executor.add_node(this->node);
  this->publish(*publisher, 5);
  set_policy(engine::Overload::kQueue);
  ASSERT_TRUE(run_all(this->executor));
  EXPECT_EQ(got, 5);
}

/// A node that publishes to its own subscriptions within the process.
template <typename E>
class WithinTheProcess : public Ros {
 protected:
  /// Returns the messages of `count` that the subscription got under the policy.
  std::vector<int> run(engine::Overload policy, int count) {
    std::vector<int> got;
    const auto node =
        std::make_shared<rclcpp::Node>("node", rclcpp::NodeOptions().use_intra_process_comms(true));
    const auto subscription = node->create_subscription<Message>(
        "topic", 10,
        [&](std::unique_ptr<Message> message) { got.push_back(message->int32_value); });
    const auto publisher = node->create_publisher<Message>("topic", 10);
    E executor;
    executor.set_timing(rclcpp::SubscriptionBase::SharedPtr(subscription), {.overload = policy});
    executor.add_node(node);
    for (int i = 1; i <= count; ++i) {
      auto message = std::make_unique<Message>();
      message->int32_value = i;
      publisher->publish(std::move(message));
    }
    EXPECT_TRUE(run_all(executor));
    counters = counters_of_topic(executor);
    return got;
  }
  engine::Counters counters;
};
TYPED_TEST_SUITE(WithinTheProcess, AllExecutors, ExecutorName);

TYPED_TEST(WithinTheProcess, OneInstanceStandsForAllAsThePolicySays) {
  for (const auto policy : {engine::Overload::kKeepLast, engine::Overload::kSkipIfRunning}) {
    EXPECT_EQ(this->run(policy, 5), std::vector<int>{5});
    EXPECT_EQ(this->counters.released, 5U);
    EXPECT_EQ(this->counters.completed, 1U);
    EXPECT_EQ(this->counters.dropped, 4U);
  }
}

TYPED_TEST(WithinTheProcess, WhatFitsIsOneInstanceEachAndTheRestIsDropped) {
  EXPECT_EQ(this->run(engine::Overload::kQueue, 10).size(), 10U);
  EXPECT_EQ(this->counters.released, 10U);
  EXPECT_EQ(this->counters.completed, 10U);
  EXPECT_EQ(this->run(engine::Overload::kQueue, 25).back(), 25);
  EXPECT_EQ(this->counters.released, 25U + 1U);  // one instance finds nothing
  EXPECT_EQ(this->counters.completed, 10U);
}

#ifdef RCLRT_HAS_KEYS
using Keyed = test_msgs::msg::KeyedString;

/// A subscription that keeps one message for each key, with what it got of each.
class Keys {
 public:
  explicit Keys(const rclcpp::Node::SharedPtr& node)
      : group_(node->create_callback_group(rclcpp::CallbackGroupType::Reentrant)),
        publisher_(node->create_publisher<Keyed>("topic", rclcpp::QoS(1).reliable())) {
    rclcpp::SubscriptionOptions options;
    options.callback_group = group_;
    subscription_ = node->create_subscription<Keyed>(
        "topic", rclcpp::QoS(1).reliable(),
        [this](const Keyed& message) {
          const std::scoped_lock lock(mutex_);
          got_[message.key] = message.value;
        },
        options);
    EXPECT_TRUE(eventually([&] { return publisher_->get_subscription_count() == 1; }));
  }
  void publish(int keys, const std::string& value) {
    Keyed message;
    message.value = value;
    for (int i = 0; i < keys; ++i) {
      message.key = std::to_string(i);
      publisher_->publish(message);
    }
  }
  int count(const std::string& value) {
    const std::scoped_lock lock(mutex_);
    return static_cast<int>(std::count_if(got_.begin(), got_.end(),
                                          [&](const auto& each) { return each.second == value; }));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> got_;
  rclcpp::CallbackGroup::SharedPtr group_;
  rclcpp::Publisher<Keyed>::SharedPtr publisher_;
  rclcpp::Subscription<Keyed>::SharedPtr subscription_;
};

TYPED_TEST(Backlog, OfEachKeyTheNewestIsRun) {
  Keys keys(this->node);
  this->executor.add_node(this->node);
  keys.publish(5, "old");
  keys.publish(5, "new");
  ASSERT_TRUE(run_all(this->executor));
  EXPECT_EQ(keys.count("new"), middleware_has_keys() ? 5 : 1);
}

TYPED_TEST(Backlog, KeysMoveToTheNextExecutor) {
  Keys keys(this->node);
  {
    TypeParam first;
    first.add_node(this->node);
    keys.publish(5, "new");
  }
  this->executor.add_node(this->node);
  ASSERT_TRUE(run_all(this->executor));
  EXPECT_EQ(keys.count("new"), middleware_has_keys() ? 5 : 1);
}

TYPED_TEST(Backlog, OfNoKeyTheNewestStaysBehindWhileItSpins) {
  if (!middleware_has_keys()) {
    GTEST_SKIP() << "the middleware keeps one message of all keys";
  }
  Keys keys(this->node);
  this->executor.add_node(this->node);
  const Spinning spinning(this->executor);
  for (int round = 0; round < 300; ++round) {
    const std::string value = std::to_string(round);
    keys.publish(1 + round % 7, value);
    ASSERT_TRUE(eventually([&] { return keys.count(value) == 1 + round % 7; }))
        << keys.count(value) << " in round " << round;
  }
}
#endif

}  // namespace
}  // namespace rclrt_rclcpp::test
