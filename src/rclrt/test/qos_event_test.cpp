// SPDX-License-Identifier: Apache-2.0
// Events of the quality of service over the real middleware, under every executor.
#include "rclrt/qos_event.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <thread>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std::chrono::milliseconds;
using std_msgs::msg::Int64;
using testing::HasSubstr;
using testing::ThrowsMessage;

class QosEvents : public EveryExecutor {
 protected:
  void TearDown() override {
    executor_->cancel();
    if (thread_.joinable()) {
      thread_.join();
    }
  }
  void start() {
    executor_->add_node(node_);
    thread_ = std::thread([this] { executor_->spin(); });
  }

  Node node_{context, "node"};
  std::unique_ptr<Executor> executor_ = executor();
  std::thread thread_;
};
INSTANTIATE_TEST_SUITE_P(Every, QosEvents, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(QosEvents, BothSidesAreToldOfEachMissedDeadline) {
  const QoS qos = QoS(10).deadline(milliseconds(10));
  const auto publisher = node_.create_publisher<Int64>("topic", qos);
  const auto subscription = node_.create_subscription<Int64>("topic", qos, [](const Int64&) {});
  std::atomic<int> offered{0};
  std::atomic<int> requested{0};
  create_qos_event<OfferedDeadlineMissed>(
      node_, publisher,
      [&](const OfferedDeadlineMissed& missed, const InstanceInfo& info) {
        EXPECT_EQ(info.level, 5);
        EXPECT_GT(info.ready_ns, 0);
        EXPECT_GT(missed.total_count_change, 0);
        offered = missed.total_count;
      },
      {.priority = 5});
  create_qos_event<RequestedDeadlineMissed>(
      node_, subscription,
      [&](const RequestedDeadlineMissed& missed) { requested = missed.total_count; });
  start();
  publisher->publish(Int64{});  // the next message is late
  EXPECT_TRUE(eventually([&] { return offered >= 2 && requested >= 2; }));
}

TEST_P(QosEvents, BothSidesAreToldOfAnIncompatibleOther) {
  const auto publisher = node_.create_publisher<Int64>("topic", QoS(10).best_effort());
  const auto subscription =
      node_.create_subscription<Int64>("topic", QoS(10).reliable(), [](const Int64&) {});
  std::atomic<int> offered{0};
  std::atomic<int> requested{0};
  const auto is_it = [](std::atomic<int>& count) {
    return [&count](const QosIncompatible& incompatible) {
      EXPECT_EQ(incompatible.last_policy_kind, RMW_QOS_POLICY_RELIABILITY);
      count = incompatible.total_count;
    };
  };
  create_qos_event<QosIncompatible>(node_, publisher, is_it(offered));
  create_qos_event<QosIncompatible>(node_, subscription, is_it(requested));
  start();
  EXPECT_TRUE(eventually([&] { return offered == 1 && requested == 1; }));
}

TEST_P(QosEvents, ASubscriptionIsToldOfPublishersThatComeFallSilentAndGo) {
  const QoS qos = QoS(10).liveliness_by_topic(milliseconds(20));
  const auto subscription = node_.create_subscription<Int64>("topic", qos, [](const Int64&) {});
  std::atomic<int> alive{0};
  std::atomic<int> silent{0};
  create_qos_event<LivelinessChanged>(node_, subscription, [&](const LivelinessChanged& changed) {
    alive = changed.alive_count;
    silent = changed.not_alive_count;
  });
  auto publisher = node_.create_publisher<Int64>("topic", qos);
  std::atomic<int> lost{0};
  create_qos_event<LivelinessLost>(node_, publisher,
                                   [&](const LivelinessLost& event) { lost = event.total_count; });
  start();
  EXPECT_TRUE(eventually([&] {
    publisher->assert_liveliness();
    return alive == 1;
  }));
  EXPECT_TRUE(eventually([&] { return lost > 0 && silent == 1 && alive == 0; }));
  executor_->remove_node(node_);
}

TEST_P(QosEvents, WhatHappenedBeforePrepareIsTold) {
  const auto subscription =
      node_.create_subscription<Int64>("topic", QoS(10).reliable(), [](const Int64&) {});
  std::atomic<int> requested{0};
  create_qos_event<QosIncompatible>(
      node_, subscription, [&](const QosIncompatible& event) { requested = event.total_count; });
  Node other(context, "other");
  const auto incompatible = other.create_publisher<Int64>("topic", QoS(10).best_effort());
  const auto compatible = other.create_publisher<Int64>("topic", QoS(10));
  ASSERT_TRUE(eventually([&] { return subscription->get_publisher_count() == 1; }));
  start();
  EXPECT_TRUE(eventually([&] { return requested == 1; }));
}

TEST_P(QosEvents, NoMessageIsLostWhenNoneIs) {
  const auto publisher = node_.create_publisher<Int64>("topic", 10);
  std::atomic<int> received{0};
  const auto subscription =
      node_.create_subscription<Int64>("topic", 10, [&](const Int64&) { ++received; });
  const auto lost = create_qos_event<MessageLost>(
      node_, subscription, [](const MessageLost&) { ADD_FAILURE() << "none was lost"; });
  start();
  EXPECT_TRUE(eventually([&] {
    publisher->publish(Int64{});
    return received > 5;
  }));
  EXPECT_EQ(lost->counters().completed, 0U);
}

TEST_P(QosEvents, AfterItsRemovalNoneRuns) {
  const QoS qos = QoS(10).deadline(milliseconds(5));
  const auto publisher = node_.create_publisher<Int64>("topic", qos);
  std::atomic<bool> gone{false};
  std::atomic<bool> ran_when_gone{false};
  std::atomic<int> runs{0};
  const auto event =
      create_qos_event<OfferedDeadlineMissed>(node_, publisher, [&](const OfferedDeadlineMissed&) {
        ran_when_gone = ran_when_gone || gone;
        ++runs;
      });
  std::atomic<int> others{0};
  node_.create_wall_timer(milliseconds(5), [&] { ++others; });
  start();
  publisher->publish(Int64{});
  EXPECT_TRUE(eventually([&] { return runs > 1; }));
  EXPECT_TRUE(executor_->remove(event));
  gone = true;
  const int before = others;
  EXPECT_TRUE(eventually([&] { return others > before + 5; })) << "five periods later";
  EXPECT_FALSE(ran_when_gone);
}

TEST_P(QosEvents, ASecondCallbackForOneKindOfEventIsRefusedUntilTheFirstHasEnded) {
  const auto publisher = node_.create_publisher<Int64>("topic", QoS(10).deadline(milliseconds(10)));
  const auto ignore = [](const OfferedDeadlineMissed&) {};
  auto first = std::make_shared<Node>(context, "first");
  create_qos_event<OfferedDeadlineMissed>(*first, publisher, ignore);
  EXPECT_THAT([&] { create_qos_event<OfferedDeadlineMissed>(node_, publisher, ignore); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("already has a callback for this kind of event")));
  first.reset();
  EXPECT_NO_THROW(create_qos_event<OfferedDeadlineMissed>(node_, publisher, ignore));
}

}  // namespace
}  // namespace rclrt::test
