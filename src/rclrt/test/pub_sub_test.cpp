// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <std_msgs/msg/int64.hpp>
#include <std_msgs/msg/string.hpp>

#include "numbers.hpp"
#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;
using testing::ThrowsMessage;

using std_msgs::msg::Int64;
using std_msgs::msg::String;

class PubSub : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, PubSub, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(PubSub, EveryMessageWithinTheDepthArrivesOnceAndInOrder) {
  Node node(context, "node");
  std::vector<std::int64_t> received;
  const auto spinning = executor({.cpus = {realtime::allowed_cpus().front()}});
  const auto subscription =
      node.create_subscription<Int64>("numbers", 50, [&](const Int64& message) {
        received.push_back(message.data);
        if (received.size() == 50) {
          spinning->cancel();
        }
      });
  const auto publisher = node.create_publisher<Int64>("numbers", 50);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(publisher->publish(number(i)));
  }
  spinning->spin();
  ASSERT_EQ(received.size(), 50U);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)], i);
  }
}

TEST_P(PubSub, MessagesThatArrivedBeforePrepareAreNotForgotten) {
  Node node(context, "node");
  std::atomic<int> received{0};
  const auto spinning = executor();
  const auto subscription = node.create_subscription<Int64>("early", 5, [&](const Int64&) {
    if (++received == 3) {
      spinning->cancel();
    }
  });
  const auto publisher = node.create_publisher<Int64>("early", 5);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 0; i < 3; ++i) {
    publisher->publish(number(i));
  }
  spinning->add_node(node);
  spinning->spin();  // hangs when one is forgotten
  EXPECT_EQ(received.load(), 3);
}

TEST_P(PubSub, ABurstBeyondTheDepthKeepsTheNewestAndLeavesNoneBehind) {
  Node node(context, "node");
  std::vector<std::int64_t> received;
  const auto spinning = executor({.cpus = {realtime::allowed_cpus().front()}});
  const auto subscription = node.create_subscription<Int64>("burst", 4, [&](const Int64& message) {
    received.push_back(message.data);
    if (message.data == 9) {
      spinning->cancel();
    }
  });
  const auto publisher = node.create_publisher<Int64>("burst", 20);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (int i = 0; i < 10; ++i) {
    publisher->publish(number(i));
  }
  spinning->spin();
  EXPECT_EQ(received, (std::vector<std::int64_t>{6, 7, 8, 9}));
  const auto counters = subscription->counters();
  EXPECT_EQ(counters.completed, 4U);
  EXPECT_LE(counters.pending(), 6U) << "cancel leaves what it found waiting";
}

TEST_P(PubSub, CallbacksMayPublishToEachOther) {
  Node node(context, "node");
  const auto spinning = executor();
  const auto to_pong = node.create_publisher<Int64>("ping", 10);
  const auto to_ping = node.create_publisher<Int64>("pong", 10);
  const auto pong = node.create_subscription<Int64>(
      "ping", 10, [&](const Int64& message) { to_ping->publish(number(message.data + 1)); });
  std::atomic<std::int64_t> last{0};
  const auto ping = node.create_subscription<Int64>("pong", 10,
                                                    [&](const Int64& message) {
                                                      last = message.data;
                                                      if (message.data == 100) {
                                                        spinning->cancel();
                                                      } else {
                                                        to_pong->publish(number(message.data));
                                                      }
                                                    },
                                                    {.priority = 3});
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] {
    return to_pong->get_subscription_count() == 1 && to_ping->get_subscription_count() == 1;
  }));
  to_pong->publish(number(0));
  spinning->spin();
  EXPECT_EQ(last.load(), 100);
}

TEST_P(PubSub, StringsOfAnyLengthArriveUnchanged) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::size_t> lengths;
  const auto subscription =
      node.create_subscription<String>("strings", 10, [&](const String& message) {
        EXPECT_EQ(message.data, std::string(message.data.size(), 'x'));
        lengths.push_back(message.data.size());
        if (lengths.size() == 4) {
          spinning->cancel();
        }
      });
  const auto publisher = node.create_publisher<String>("strings", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  for (const std::size_t length : {0U, 1U, 100'000U, 3U}) {
    String message;
    message.data.assign(length, 'x');
    EXPECT_TRUE(publisher->publish(message));
  }
  spinning->spin();
  EXPECT_EQ(lengths, (std::vector<std::size_t>{0, 1, 100'000, 3}));
}

TEST_P(PubSub, TheCallbackIsToldWhenItsMessageBecameReady) {
  Node node(context, "node");
  const auto spinning = executor();
  std::int64_t published = 0;
  InstanceInfo seen;
  const auto subscription =
      node.create_subscription<Int64>("info", 10,
                                      [&](const Int64&, const InstanceInfo& info) {
                                        seen = info;
                                        spinning->cancel();
                                      },
                                      {.priority = 5});
  const auto publisher = node.create_publisher<Int64>("info", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  published = realtime::monotonic_now_ns();
  publisher->publish(number(1));
  spinning->spin();
  EXPECT_EQ(seen.level, 5);
  // The middleware's clock and ours are read microseconds apart; 1 ms is generous and not a
  // latency.
  EXPECT_GE(seen.ready_ns, published - 1'000'000);
  EXPECT_LE(seen.ready_ns, seen.start_ns + 1'000'000);
}

TEST_P(PubSub, AnExceptionInASubscriptionCallbackIsRethrownBySpin) {
  Node node(context, "node");
  const auto spinning = executor();
  const auto subscription = node.create_subscription<Int64>(
      "throws", 10, [](const Int64&) { throw std::runtime_error("bad message"); });
  const auto publisher = node.create_publisher<Int64>("throws", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  publisher->publish(number(1));
  EXPECT_THAT([&] { spinning->spin(); }, ThrowsMessage<std::runtime_error>("bad message"));
}

TEST_P(PubSub, DestroyingTheExecutorWhileMessagesArriveIsClean) {
  Node node(context, "node");
  const auto subscription = node.create_subscription<Int64>("busy", 3, [](const Int64&) {});
  const auto publisher = node.create_publisher<Int64>("busy", 3);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  replace_executors_while_messages_arrive(
      node, [&] { return executor(); }, [&] { publisher->publish(number(1)); },
      [&] { return subscription->counters().released; });
}

class Reattached : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, Reattached, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Reattached, ASecondExecutorRunsWhatTheFirstLeftWaiting) {
  Node node(context, "node");
  std::vector<std::int64_t> received;
  std::unique_ptr<Executor> second;
  const auto subscription = node.create_subscription<Int64>("left", 10, [&](const Int64& message) {
    received.push_back(message.data);
    if (message.data == 3) {
      second->cancel();
    }
  });
  const auto publisher = node.create_publisher<Int64>("left", 10);
  {
    const auto first = executor();
    first->add_node(node);
    first->prepare();
    ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
    for (int i = 0; i < 3; ++i) {
      publisher->publish(number(i));
    }
  }
  second = executor({.cpus = {realtime::allowed_cpus().front()}});
  second->add_node(node);
  second->prepare();
  publisher->publish(number(3));
  second->spin();  // hangs when it lags behind
  EXPECT_EQ(received, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Publisher, SendsNothingAfterShutdownAndSaysSo) {
  const auto context = make_context();
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("late", 10);
  context->shutdown();
  EXPECT_FALSE(publisher->publish(number(1)));
}

class MessagePreemption : public PreemptingExecutor {};
INSTANTIATE_TEST_SUITE_P(, MessagePreemption, ::testing::ValuesIn(preempting_executors()),
                         parameter_name);

TEST_P(MessagePreemption, AMessageForAMoreUrgentCallbackPreemptsItsPublisher) {
  std::atomic<bool> urgent_ran{false};
  bool preempted = false;
  const auto publisher = node_.create_publisher<Int64>("urgent", 10);
  const auto urgent = node_.create_subscription<Int64>(
      "urgent", 10, [&](const Int64&) { urgent_ran = true; }, {.priority = 2, .deadline = 1h});
  const auto timer = node_.create_wall_timer(
      std::chrono::milliseconds(5),
      [&] {
        publisher->publish(number(1));
        preempted = urgent_ran;  // one CPU: only preemption can have let it run by now
        executor_->cancel();
      },
      {.priority = 1, .deadline = 2h});
  spin_when([&] { return publisher->get_subscription_count() == 1; });
  EXPECT_TRUE(preempted);
}

TEST_P(MessagePreemption, OneMessageForTwoCallbacksReachesTheMoreUrgentOneFirst) {
  // One CPU and one callback at a time: the vector needs no lock, except under TSan, which skips
  // this test.
  std::vector<std::string> order;
  const auto publisher = node_.create_publisher<Int64>("both", 10);
  const auto low = node_.create_subscription<Int64>("both", 10,
                                                    [&](const Int64&) {
                                                      order.push_back("low");
                                                      executor_->cancel();
                                                    },
                                                    {.priority = 2, .deadline = 2h});
  const auto high = node_.create_subscription<Int64>(
      "both", 10, [&](const Int64&) { order.push_back("high"); }, {.priority = 9, .deadline = 1h});
  const auto timer =
      node_.create_wall_timer(std::chrono::milliseconds(5), [&] { publisher->publish(number(1)); },
                              {.priority = 1, .deadline = 3h});
  spin_when([&] { return publisher->get_subscription_count() == 2; });
  ASSERT_GE(order.size(), 2U);
  EXPECT_EQ(order[0], "high");
  EXPECT_EQ(order[1], "low");
}

}  // namespace
}  // namespace rclrt::test
