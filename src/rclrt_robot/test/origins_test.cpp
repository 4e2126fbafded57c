// SPDX-License-Identifier: Apache-2.0
// The age of messages without a stamp: they count from the origin of the data of their publisher's
// callback.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "rclcpp_fixture.hpp"
#include "rclrt/executor/instance.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt_rclcpp/sampling.hpp"
#include "rclrt_robot/origins.hpp"

namespace rclrt_robot::test {
namespace {

using geometry_msgs::msg::PointStamped;

/// Counts messages that contain the time from which they should count.
class Sink {
 public:
  explicit Sink(const std::string& topic)
      : node_(std::make_shared<rclcpp::Node>("sink")),
        subscription_(node_->create_subscription<Message>(
            topic, 10, [this](const Message& message) { take(message); })) {}

  void join(Executor& executor) {
    executor.set_timing(subscription_, {.max_age = 30min});
    executor.add_node(node_);
  }
  /// Returns the executor's information on the subscription.
  CallbackInfo info(Executor& executor) const {
    for (const CallbackInfo& each : executor.callbacks()) {
      if (each.max_age.count() > 0) {
        return each;
      }
    }
    ADD_FAILURE() << "no callback has a max_age";
    return {};
  }

  std::atomic<int> right{0};
  std::atomic<int> wrong_since_right{0};
  std::atomic<int> received{0};

 private:
  void take(const Message& message) {
    const bool is_right = engine::current_instance()->since_ns == message.int64_value;
    right += is_right ? 1 : 0;
    wrong_since_right += !is_right && right > 0 ? 1 : 0;
    ++received;
  }

  rclcpp::Node::SharedPtr node_;
  rclcpp::Subscription<Message>::SharedPtr subscription_;
};

class OriginsTest : public Ros {
 protected:
  static Options options() {
    Options options = on_one_cpu();
    options.origins = share_origins;
    return options;
  }

  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("node", "/robot");
  Sink sink_{"/plain"};
};

Message of_release() {
  Message message;
  message.int64_value = engine::current_instance()->release_ns;
  return message;
}

/// A timer of a node, and a second node that publishes the timer's messages again on /plain.
struct Chain {
  explicit Chain(const rclcpp::Node::SharedPtr& node)
      : publisher(node->create_publisher<Message>("/between", 10)),
        timer(node->create_wall_timer(5ms, [this] { publisher->publish(of_release()); })) {}

  const rclcpp::Publisher<Message>::SharedPtr publisher;
  const rclcpp::TimerBase::SharedPtr timer;
  const rclcpp::Node::SharedPtr between = std::make_shared<rclcpp::Node>("between");
  const rclcpp::Publisher<Message>::SharedPtr next =
      between->create_publisher<Message>("/plain", 10);
  const rclcpp::Subscription<Message>::SharedPtr subscription =
      between->create_subscription<Message>(
          "/between", 10, [this](const Message& message) { next->publish(message); });
};

TEST_F(OriginsTest, FromTheReleaseOfTheTimerThatPublished) {
  PreemptiveExecutor executor(options());
  const auto publisher = node_->create_publisher<Message>("/plain", 10);
  const auto timer =
      node_->create_wall_timer(5ms, [&publisher] { publisher->publish(of_release()); });
  executor.add_node(node_);
  sink_.join(executor);
  {
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] { return sink_.right >= 20; }));
  }
  EXPECT_EQ(sink_.wrong_since_right, 0);
  EXPECT_EQ(sink_.info(executor).unstamped, 0U);
  EXPECT_EQ(sink_.info(executor).from_publication,
            static_cast<std::uint64_t>(sink_.received - sink_.right));
}

TEST_F(OriginsTest, OverTwoExecutorsAndThroughACallbackInBetween) {
  PreemptiveExecutor first(options());
  PreemptiveExecutor second(options());
  const Chain chain(node_);
  first.add_node(node_);
  second.add_node(chain.between);
  sink_.join(first);
  const Spinning spinning(first);
  const Spinning spinning_too(second);
  EXPECT_TRUE(eventually([&] { return sink_.right >= 20; }));
  EXPECT_EQ(sink_.wrong_since_right, 0);
}

/// The replaced callback looks up its origins again, and nothing wrong is reported meanwhile.
TEST_F(OriginsTest, WhereTheCallbackInBetweenIsChangedNothingIsWrong) {
  PreemptiveExecutor executor(options());
  const Chain chain(node_);
  executor.add_node(node_);
  executor.add_node(chain.between);
  sink_.join(executor);
  {
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] { return sink_.right >= 20; }));
    executor.set_timing(chain.subscription, {.deadline = 20min});
    const int before = sink_.right;
    EXPECT_TRUE(eventually([&] { return sink_.right >= before + 20; }));
  }
  EXPECT_EQ(sink_.info(executor).from_publication,
            static_cast<std::uint64_t>(sink_.received - sink_.right))
      << "each wrong origin is counted";
}

/// The subscription's own deadline, if it has one, still counts from the arrival.
TEST_F(OriginsTest, FromTheStampThatTheirPublisherWasCalledWith) {
  PreemptiveExecutor executor(options());
  const auto source = node_->create_publisher<PointStamped>("/points", 10);
  const auto between = std::make_shared<rclcpp::Node>("between");
  const auto publisher = between->create_publisher<Message>("/plain", 10);
  const auto subscription = between->create_subscription<PointStamped>(
      "/points", 10, [&](const PointStamped&) { publisher->publish(Message()); });
  executor.set_timing(subscription, {.deadline = 20min});
  executor.add_node(between);
  sink_.join(executor);
  const Spinning spinning(executor);
  const auto publish = [&](std::chrono::minutes age) {
    const int before = sink_.received;
    PointStamped points;
    points.header.stamp = node_->now() - rclcpp::Duration(age);
    source->publish(points);
    return eventually([&] { return sink_.received > before; });
  };
  ASSERT_TRUE(eventually([&] {
    return source->get_subscription_count() == 1 && publisher->get_subscription_count() == 1;
  }));
  ASSERT_TRUE(eventually([&] {
    EXPECT_TRUE(publish(40min));
    return sink_.info(executor).counters.missed > 0;
  }));
  // A callback's end is counted after its last statement.
  ASSERT_TRUE(eventually([&] {
    return sink_.info(executor).counters.completed == static_cast<std::uint64_t>(sink_.received);
  }));
  const engine::Counters before = sink_.info(executor).counters;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(publish(40min));
    ASSERT_TRUE(publish(10min));
  }
  EXPECT_TRUE(
      eventually([&] { return sink_.info(executor).counters.completed == before.completed + 10; }));
  EXPECT_EQ(sink_.info(executor).counters.missed, before.missed + 5);
  for (const CallbackInfo& each : executor.callbacks()) {
    EXPECT_TRUE(each.deadline.count() == 0 || each.counters.missed == 0) << each.name;
  }
}

std::int64_t number_of(const Message& message) { return message.int64_value; }

TEST_F(OriginsTest, ThroughTwoTimersThatSampleWhatTheirNodesStored) {
  PreemptiveExecutor executor(options());
  const auto camera = node_->create_publisher<Message>("/frames", 1);
  const auto frames = node_->create_wall_timer(7ms, [&] { camera->publish(of_release()); });
  rclcpp::Node planner("planner");
  const auto path = planner.create_publisher<Message>("/path", 1);
  const auto publish = [&](rclcpp::Publisher<Message>& to, const Sample<std::int64_t>& from) {
    if (from.is_stored()) {
      Message message;
      message.int64_value = from.value;
      to.publish(message);
    } else {
      EXPECT_EQ(from.age_ns(), 0);
      EXPECT_TRUE(current_origin().is_whole) << "the release of the timer";
    }
  };
  const auto seen = create_sampled_subscription<Message>(planner, "/frames", 1, number_of);
  const auto plan = create_sampling_timer(
      planner, 5ms, seen, [&](const Sample<std::int64_t>& frame) { publish(*path, frame); });
  rclcpp::Node controller("controller");
  const auto command = controller.create_publisher<Message>("/plain", 1);
  const auto followed = create_sampled_subscription<Message>(controller, "/path", 1, number_of);
  std::atomic<int> right{0};
  std::atomic<int> wrong_since_right{0};
  const auto control =
      create_sampling_timer(controller, 3ms, followed, [&](const Sample<std::int64_t>& goal) {
        const bool is_right = goal.origin.since_ns == goal.value && goal.is_stored();
        right += is_right ? 1 : 0;
        wrong_since_right += !is_right && right > 0 ? 1 : 0;
        EXPECT_TRUE(!is_right || goal.origin.is_whole);
        EXPECT_EQ(current_origin().since_ns == goal.value, is_right);
        publish(*command, goal);
      });
  executor.add_node(node_);
  executor.add_node(planner.get_node_base_interface());
  executor.add_node(controller.get_node_base_interface());
  sink_.join(executor);
  {
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] { return sink_.right >= 30; }));
  }
  EXPECT_EQ(wrong_since_right, 0);
  EXPECT_EQ(sink_.wrong_since_right, 0);
  EXPECT_EQ(sink_.info(executor).from_publication,
            static_cast<std::uint64_t>(sink_.received - sink_.right))
      << "each wrong origin is counted";
}

/// A node with variables of its own states what it uses. The oldest counts, and what was published
/// before counts from the release of the timer.
TEST_F(OriginsTest, OfDataThatACallbackStatesItself) {
  PreemptiveExecutor executor(options());
  const auto publisher = node_->create_publisher<Message>("/plain", 10);
  const auto timer = node_->create_wall_timer(10ms, [&] {
    Message message = of_release();
    EXPECT_EQ(current_origin().since_ns, message.int64_value);
    publisher->publish(message);
    const std::int64_t now_ns = rclrt::realtime::monotonic_now_ns();
    use_origin({});  // unknown: no effect
    use_origin({now_ns - 1'000, true});
    use_origin({now_ns - 2'000'000, true});
    use_origin({now_ns - 3'000, true});
    message.int64_value = now_ns - 2'000'000;
    EXPECT_EQ(current_origin().since_ns, message.int64_value);
    publisher->publish(message);
  });
  EXPECT_EQ(current_origin().since_ns, 0) << "outside of callbacks";
  executor.add_node(node_);
  sink_.join(executor);
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually([&] { return sink_.right >= 20; }));
  EXPECT_EQ(sink_.wrong_since_right, 0);
}

TEST_F(OriginsTest, ASampledValueIsNotInAReentrantGroup) {
  const auto group = node_->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  rclcpp::SubscriptionOptions options;
  options.callback_group = group;
  EXPECT_THROW(create_sampled_subscription<Message>(*node_, "/frames", 1, number_of, options),
               std::invalid_argument);
  const auto sampled = create_sampled_subscription<Message>(*node_, "/frames", 1, number_of);
  EXPECT_THROW(create_sampling_timer(
                   *node_, 1ms, sampled, [](const auto&) {}, group),
               std::invalid_argument);
}

TEST_F(OriginsTest, APublisherThatComesLaterIsKnownSoon) {
  PreemptiveExecutor executor(options());
  sink_.join(executor);
  executor.add_node(node_);
  const Spinning spinning(executor);
  for (int round = 0; round < 3; ++round) {
    const auto publisher = node_->create_publisher<Message>("/plain", 10);
    const auto timer =
        node_->create_wall_timer(5ms, [publisher] { publisher->publish(of_release()); });
    const int before = sink_.right;
    EXPECT_TRUE(eventually([&] { return sink_.right >= before + 10; })) << round;
  }
}

TEST_F(OriginsTest, WhatNobodyTellsOfCountsFromItsPublication) {
  PreemptiveExecutor executor(options());
  sink_.join(executor);
  executor.add_node(node_);
  const auto publisher = node_->create_publisher<Message>("/plain", 10);
  const Spinning spinning(executor);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 1; i <= 5; ++i) {  // outside of callbacks
    publisher->publish(Message());
    ASSERT_TRUE(eventually([&] { return sink_.received == i; }));
  }
  EXPECT_EQ(sink_.info(executor).from_publication, 5U);
  EXPECT_EQ(sink_.info(executor).counters.missed, 0U);
}

TEST_F(OriginsTest, WithoutThemMessagesCountFromTheirPublication) {
  PreemptiveExecutor executor(on_one_cpu());
  const auto publisher = node_->create_publisher<Message>("/plain", 10);
  const auto timer =
      node_->create_wall_timer(5ms, [&publisher] { publisher->publish(of_release()); });
  executor.add_node(node_);
  sink_.join(executor);
  {
    const Spinning spinning(executor);
    EXPECT_TRUE(eventually([&] { return sink_.received >= 20; }));
  }
  EXPECT_EQ(sink_.right, 0);
  EXPECT_EQ(sink_.info(executor).from_publication, sink_.info(executor).counters.completed);
}

}  // namespace
}  // namespace rclrt_robot::test
