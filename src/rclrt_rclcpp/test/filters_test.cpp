// SPDX-License-Identifier: Apache-2.0
// message_filters: its subscriptions belong to rclcpp, and are made and dropped at any time.
#include <atomic>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <message_filters/subscriber.hpp>
#include <message_filters/sync_policies/approximate_time.hpp>
#include <message_filters/sync_policies/exact_time.hpp>
#include <message_filters/synchronizer.hpp>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {
namespace {

using Point = geometry_msgs::msg::PointStamped;
using Exact = message_filters::sync_policies::ExactTime<Point, Point>;
using Approximate = message_filters::sync_policies::ApproximateTime<Point, Point>;
using Stamps = std::vector<std::int64_t>;

rclcpp::QoS reliable() { return rclcpp::QoS(100).reliable(); }

/// Subscribes: later versions than 4 (Jazzy) deprecate rmw's profile.
template <typename Subscriber>
void subscribe(Subscriber& subscriber, rclcpp::Node& node, const std::string& topic,
               const rclcpp::SubscriptionOptions& options) {
  if constexpr (requires { subscriber.subscribe(&node, topic, reliable(), options); }) {
    subscriber.subscribe(&node, topic, reliable(), options);
  } else {
    subscriber.subscribe(&node, topic, reliable().get_rmw_qos_profile(), options);
  }
}

std::int64_t stamp_ns(const Point& point) { return rclcpp::Time(point.header.stamp).nanoseconds(); }

/// A node that subscribes to two topics through filters.
template <typename E>
class Filters : public Ros {
 protected:
  void hear(const rclcpp::CallbackGroup::SharedPtr& group_of_right = nullptr) {
    rclcpp::SubscriptionOptions options;
    subscribe(left, *node, "left", options);
    options.callback_group = group_of_right;
    subscribe(right, *node, "right", options);
    executor.add_node(node);
    ASSERT_TRUE(eventually([&] {
      return to_left->get_subscription_count() == 1 && to_right->get_subscription_count() == 1;
    }));
  }

  static void publish(const rclcpp::Publisher<Point>::SharedPtr& publisher, std::int64_t stamp) {
    Point point;
    point.header.stamp = rclcpp::Time(stamp);
    publisher->publish(point);
  }

  E executor;
  const rclcpp::Node::SharedPtr node = std::make_shared<rclcpp::Node>("node");
  const rclcpp::Node::SharedPtr source = std::make_shared<rclcpp::Node>("source");
  const rclcpp::Publisher<Point>::SharedPtr to_left =
      source->create_publisher<Point>("left", reliable());
  const rclcpp::Publisher<Point>::SharedPtr to_right =
      source->create_publisher<Point>("right", reliable());
  message_filters::Subscriber<Point> left;
  message_filters::Subscriber<Point> right;
};
TYPED_TEST_SUITE(Filters, AllExecutors, ExecutorName);

TYPED_TEST(Filters, WhatHasOneStampIsPairedOnce) {
  this->hear();
  this->executor.set_priority(this->right.getSubscriber(), 5);
  message_filters::Synchronizer<Exact> synchronizer(Exact(100), this->left, this->right);
  Stamps lefts;
  Stamps rights;
  std::atomic<int> pairs{0};
  const std::function<void(const Point::ConstSharedPtr&, const Point::ConstSharedPtr&)> pair =
      [&](const auto& a, const auto& b) {
        lefts.push_back(stamp_ns(*a));
        rights.push_back(stamp_ns(*b));
        ++pairs;
      };
  synchronizer.registerCallback(std::bind(pair, std::placeholders::_1, std::placeholders::_2));
  Stamps sent;
  const Spinning spinning(this->executor);
  for (std::int64_t i = 1; i <= 50; ++i) {
    this->publish(this->to_left, i);
    this->publish(this->to_right, i);
    sent.push_back(i);
  }
  EXPECT_TRUE(eventually([&] { return pairs == 50; })) << pairs;
  EXPECT_EQ(lefts, sent);
  EXPECT_EQ(rights, sent);
}

TYPED_TEST(Filters, WhatIsNearIsPairedFromTwoGroups) {
  this->hear(this->node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive));
  message_filters::Synchronizer<Approximate> synchronizer(Approximate(100), this->left,
                                                          this->right);
  std::atomic<int> pairs{0};
  std::atomic<int> wrong{0};
  const std::function<void(const Point::ConstSharedPtr&, const Point::ConstSharedPtr&)> pair =
      [&](const auto& a, const auto& b) {
        wrong += stamp_ns(*b) - stamp_ns(*a) == 1'000'000 ? 0 : 1;
        ++pairs;
      };
  synchronizer.registerCallback(std::bind(pair, std::placeholders::_1, std::placeholders::_2));
  const Spinning spinning(this->executor);
  std::thread other([&] {
    for (std::int64_t i = 1; i <= 50; ++i) {
      this->publish(this->to_right, i * 10'000'000 + 1'000'000);
    }
  });
  for (std::int64_t i = 1; i <= 50; ++i) {
    this->publish(this->to_left, i * 10'000'000);
  }
  other.join();
  // The last pair is certain only after a following message.
  EXPECT_TRUE(eventually([&] { return pairs >= 49; })) << pairs;
  EXPECT_EQ(wrong, 0);
}

TYPED_TEST(Filters, AFilterMayLetGoOfItsSubscriptionInItsOwnCallback) {
  this->hear();
  std::atomic<int> got{0};
  const std::function<void(const Point::ConstSharedPtr&)> once = [&](const auto&) {
    this->left.unsubscribe();
    ++got;
  };
  this->left.registerCallback(once);
  const Spinning spinning(this->executor);
  for (int round = 1; round <= 5; ++round) {
    this->publish(this->to_left, round);
    ASSERT_TRUE(eventually([&] { return got == round; })) << round;
    ASSERT_TRUE(eventually([&] { return this->to_left->get_subscription_count() == 0; }));
    this->left.subscribe();
    ASSERT_TRUE(eventually([&] { return this->to_left->get_subscription_count() == 1; }));
  }
}

}  // namespace
}  // namespace rclrt_rclcpp::test
