// SPDX-License-Identifier: Apache-2.0
// Intra-process hand-over: matching, refusals, and the order of destruction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <thread>

#include "numbers.hpp"
#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using std_msgs::msg::Int64;
using testing::HasSubstr;
using testing::ThrowsMessage;

CallbackOptions intra() { return {.intra_process = true}; }

void expect_nothing_pending(const executor::Callback& callback) {
  EXPECT_EQ(callback.counters().pending(), 0U);
}

const auto kIgnore = [](const Int64&) {};

class IntraProcessLife : public EveryExecutor {
 protected:
  Node node{context, "node"};
};
INSTANTIATE_TEST_SUITE_P(Every, IntraProcessLife, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(IntraProcessLife, SubscriptionsComeAndGoWhileMessagesArrive) {
  const auto spinning = executor();
  spinning->prepare();
  std::thread spinner([&] { spinning->spin(); });
  const auto publisher = node.create_publisher<Int64>("busy", 3, {.loans = 2});
  std::atomic<bool> stop{false};
  std::thread source([&] {
    while (!stop) {
      EXPECT_TRUE(publisher->publish(number(1)));
    }
  });
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> received{0};
    std::atomic<bool> gone{false};
    std::atomic<bool> ran_when_gone{false};
    Node passing(context, "passing");
    const auto subscription =
        passing.create_subscription<Int64>("busy", 3,
                                           [&](const Int64&) {
                                             ran_when_gone = ran_when_gone || gone;
                                             ++received;
                                           },
                                           {.priority = round % 3, .intra_process = true});
    spinning->add_node(passing);
    EXPECT_TRUE(eventually([&] { return received > 2; }));
    spinning->remove_node(passing);
    gone = true;
    EXPECT_FALSE(ran_when_gone);
    expect_nothing_pending(*subscription);
  }
  stop = true;
  source.join();
  spinning->cancel();
  spinner.join();
  EXPECT_EQ(publisher->exhausted(), 0U);
}

TEST_P(IntraProcessLife, DestroyingTheExecutorWhileMessagesArriveIsClean) {
  const auto subscription = node.create_subscription<Int64>("busy", 3, kIgnore, intra());
  const auto publisher = node.create_publisher<Int64>("busy", 3);
  replace_executors_while_messages_arrive(
      node, [&] { return executor(); }, [&] { publisher->publish(number(1)); },
      [&] { return subscription->counters().released; });
}

TEST_P(IntraProcessLife, ASecondExecutorRunsWhatTheFirstLeftWaiting) {
  std::vector<std::int64_t> received;
  std::unique_ptr<Executor> second;
  const auto subscription = node.create_subscription<Int64>(
      "left", 10,
      [&](const Int64& message) {
        received.push_back(message.data);
        if (message.data == 3) {
          second->cancel();
        }
      },
      intra());
  const auto publisher = node.create_publisher<Int64>("left", 10);
  {
    const auto first = executor();
    first->add_node(node);
    first->prepare();
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

TEST_P(IntraProcessLife, AnExceptionInTheCallbackGivesTheMessageBack) {
  const auto subscription = node.create_subscription<Int64>(
      "throws", 1, [](const Int64&) { throw std::runtime_error("bad message"); }, intra());
  const auto publisher = node.create_publisher<Int64>("throws", 1);
  for (int i = 0; i < 10; ++i) {  // more often than there are slots
    const auto spinning = executor();
    spinning->add_node(node);
    spinning->prepare();
    EXPECT_TRUE(publisher->publish(number(i)));
    EXPECT_THAT([&] { spinning->spin(); }, ThrowsMessage<std::runtime_error>("bad message"));
  }
}

TEST_P(IntraProcessLife, AReentrantCallbackReadsSeveralMessagesAtOnce) {
  if (GetParam() == "wait_set" || GetParam() == "edf" || GetParam() == "events" ||
      GetParam() == "per_group" || GetParam() == "static_order" ||
      realtime::allowed_cpus().size() < 2) {
    GTEST_SKIP() << "one thread or one CPU runs one callback of a group at a time";
  }
  const auto spinning = executor({.workers_per_level = 2});
  std::atomic<int> inside{0};
  std::atomic<int> sum{0};
  node.create_subscription<Int64>(
      "reentrant", 5,
      [&](const Int64& message) {
        ++inside;
        eventually([&] { return inside == 2; });  // hangs unless both are in
        const int now = sum += static_cast<int>(message.data);
        if (now == 3) {
          spinning->cancel();
        }
      },
      {.group = node.create_callback_group(CallbackGroupType::kReentrant), .intra_process = true});
  const auto publisher = node.create_publisher<Int64>("reentrant", 5);
  spinning->add_node(node);
  spinning->prepare();
  publisher->publish(number(1));
  publisher->publish(number(2));
  spinning->spin();
  EXPECT_EQ(sum, 3);
}

class IntraProcessOverload : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(Listening, IntraProcessOverload,
                         ::testing::Values("producer_consumer", "thread_dispatch", "preemptive",
                                           "edf"),
                         parameter_name);

TEST_P(IntraProcessOverload, KeepLastRunsOnceWithTheNewestMessageWhereverItCameFrom) {
  const auto elsewhere = make_context();
  Node node(context, "node");
  Node other(elsewhere, "other");
  for (const bool newest_is_outside : {false, true}) {
    const std::string topic = newest_is_outside ? "outside" : "within";
    const auto spinning = executor({.cpus = {realtime::allowed_cpus().front()}});
    std::vector<std::int64_t> received;
    const auto last = node.create_guard_condition([&] { spinning->cancel(); }, {.priority = -1});
    const auto subscription =
        node.create_subscription<Int64>(topic, 5,
                                        [&](const Int64& message) {
                                          received.push_back(message.data);
                                          last->trigger();
                                        },
                                        {.overload = Overload::kKeepLast, .intra_process = true});
    const auto within = node.create_publisher<Int64>(topic, 5);
    const auto outside = other.create_publisher<Int64>(topic, 5);
    ASSERT_TRUE(eventually([&] { return outside->get_subscription_count() == 1; }));
    spinning->add(subscription);
    spinning->add(last);
    spinning->prepare();
    const auto publish_outside = [&](std::int64_t value) {
      const auto before = subscription->counters().released;
      outside->publish(number(value));
      ASSERT_TRUE(eventually([&] { return subscription->counters().released > before; }));
    };
    within->publish(number(1));
    publish_outside(2);
    within->publish(number(3));
    if (newest_is_outside) {
      publish_outside(4);
    }
    spinning->spin();
    EXPECT_EQ(received, (std::vector<std::int64_t>{newest_is_outside ? 4 : 3}));
  }
}

TEST_P(IntraProcessOverload, KeepLastLosesNoMessageWhileAnotherContextListensToo) {
  const auto elsewhere = make_context();
  Node node(context, "node");
  Node other(elsewhere, "other");
  const auto spinning = executor();
  std::atomic<std::int64_t> last{0};
  node.create_subscription<Int64>("topic", 5, [&](const Int64& message) { last = message.data; },
                                  {.overload = Overload::kKeepLast, .intra_process = true});
  const auto listener = other.create_subscription<Int64>("topic", 5, [](const Int64&) {});
  const auto publisher = node.create_publisher<Int64>("topic", 5);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 2; }));
  spinning->add_node(node);
  std::thread thread([&] { spinning->spin(); });
  for (std::int64_t i = 1; i <= 200; ++i) {
    publisher->publish(number(i));
    EXPECT_TRUE(eventually([&] { return last == i; })) << i;
  }
  spinning->cancel();
  thread.join();
}

class IntraProcessPool : public ::testing::Test {
 protected:
  std::shared_ptr<Context> context = make_context();
  Node node{context, "node"};
};

TEST_F(IntraProcessPool, ABestEffortPublisherDoesNotReachAReliableSubscription) {
  const auto reliable = node.create_subscription<Int64>("qos", QoS(5).reliable(), kIgnore, intra());
  const auto best_effort =
      node.create_subscription<Int64>("qos", QoS(5).best_effort(), kIgnore, intra());
  EXPECT_EQ(node.create_publisher<Int64>("qos", QoS(5).best_effort())
                ->get_intra_process_subscription_count(),
            1U);
  EXPECT_EQ(node.create_publisher<Int64>("qos", QoS(5).reliable())
                ->get_intra_process_subscription_count(),
            2U);
}

TEST_F(IntraProcessPool, OtherTopicsTypesAndContextsAreNotMatched) {
  const auto elsewhere = make_context();
  Node other(elsewhere, "other");
  const auto subscription = node.create_subscription<Int64>("topic", 5, kIgnore, intra());
  EXPECT_EQ(node.create_publisher<Int64>("topic2", 5)->get_intra_process_subscription_count(), 0U);
  EXPECT_EQ(other.create_publisher<Int64>("topic", 5)->get_intra_process_subscription_count(), 0U);
  EXPECT_EQ(node.create_publisher<Int64>("/topic", 5)->get_intra_process_subscription_count(), 1U);
}

TEST_F(IntraProcessPool, WhatTheMiddlewareMustKeepIsRefusedWithAReason) {
  try {
    node.create_subscription<Int64>("kept", QoS(5).transient_local(), kIgnore, intra());
    FAIL() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("\"kept\""), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("transient_local"), std::string::npos);
  }
}

TEST_F(IntraProcessPool, DeadlinesAndLivelinessByTopicAreTheMiddlewaresToo) {
  const std::chrono::milliseconds time(100);
  EXPECT_THAT(
      [&] { node.create_subscription<Int64>("a", QoS(5).deadline(time), kIgnore, intra()); },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("liveliness by topic it cannot be intra-process")));
  EXPECT_THAT(
      [&] {
        node.create_subscription<Int64>("a", QoS(5).liveliness_by_topic(time), kIgnore, intra());
      },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("liveliness by topic it cannot be intra-process")));
  node.create_subscription<Int64>("a", QoS(5).liveliness_automatic(time), kIgnore, intra());
}

TEST_F(IntraProcessPool, AMessageThatOutlivedItsLifespanIsNotDelivered) {
  std::vector<std::int64_t> received;
  const auto spinning = make_executor("preemptive", context, {.name = "late"});
  const auto subscription = node.create_subscription<Int64>(
      "aging", 5,
      [&](const Int64& message) {
        received.push_back(message.data);
        spinning->cancel();
      },
      intra());
  const auto aging =
      node.create_publisher<Int64>("aging", QoS(5).lifespan(std::chrono::milliseconds(1)));
  const auto fresh = node.create_publisher<Int64>("aging", QoS(5).lifespan(std::chrono::hours(1)));
  spinning->add(subscription);
  spinning->prepare();
  aging->publish(number(1));
  realtime::sleep_until_ns(realtime::monotonic_now_ns() + 1'000'000);  // the first lifespan ends
  fresh->publish(number(2));
  spinning->spin();
  EXPECT_EQ(received, (std::vector<std::int64_t>{2}));
}

TEST_F(IntraProcessPool, ATransientLocalPublisherKeepsItsMessagesForThoseWhoComeLate) {
  const auto now = node.create_subscription<Int64>("latched", 5, kIgnore, intra());
  const auto publisher = node.create_publisher<Int64>("latched", QoS(5).transient_local());
  EXPECT_EQ(publisher->get_intra_process_subscription_count(), 1U);
  EXPECT_TRUE(publisher->publish(number(7)));
  const auto spinning = make_executor("preemptive", context, {.name = "late"});
  std::int64_t received = 0;
  spinning->add(node.create_subscription<Int64>("latched", QoS(5).transient_local(),
                                                [&](const Int64& message) {
                                                  received = message.data;
                                                  spinning->cancel();
                                                }));
  spinning->spin();
  EXPECT_EQ(received, 7);
}

TEST_F(IntraProcessPool, WhenAllMessagesAreLentPublishingIsRefusedAndCounted) {
  const auto subscription = node.create_subscription<Int64>("full", 2, kIgnore, intra());
  const auto publisher = node.create_publisher<Int64>("full", 2, {.loans = 1});
  std::vector<Loan<Int64>> loans;  // 2 that wait, 1 that is read, 1 loan
  for (int i = 0; i < 4; ++i) {
    loans.push_back(publisher->borrow());
    EXPECT_TRUE(loans.back());
  }
  EXPECT_FALSE(publisher->borrow());
  EXPECT_FALSE(publisher->publish(number(1)));
  EXPECT_FALSE(publisher->publish(Loan<Int64>()));
  EXPECT_EQ(publisher->exhausted(), 2U);
  loans.pop_back();
  EXPECT_TRUE(publisher->publish(number(1)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(publisher->publish(std::move(loans.back())));  // the ring replaces its oldest
    loans.pop_back();
  }
  EXPECT_TRUE(publisher->publish(number(2)));
}

TEST_F(IntraProcessPool, ALoanOutlivesItsPublisherAndAnotherOfTheTopicMayPublishIt) {
  auto first = node.create_publisher<Int64>("topic", 2);
  const auto second = node.create_publisher<Int64>("topic", 2);
  const auto other = node.create_publisher<Int64>("other", 2);
  auto subscription = node.create_subscription<Int64>("topic", 2, kIgnore, intra());
  Loan<Int64> kept = first->borrow();
  Loan<Int64> published = first->borrow();
  Loan<Int64> astray = first->borrow();
  first.reset();
  kept->data = 1;
  EXPECT_TRUE(second->publish(std::move(published)));
  EXPECT_FALSE(other->publish(std::move(astray)));  // another pool's
  subscription.reset();
}

TEST_F(IntraProcessPool, NothingIsSentAfterShutdown) {
  const auto subscription = node.create_subscription<Int64>("late", 2, kIgnore, intra());
  const auto publisher = node.create_publisher<Int64>("late", 2);
  Loan<Int64> loan = publisher->borrow();
  context->shutdown();
  EXPECT_FALSE(publisher->publish(number(1)));
  EXPECT_FALSE(publisher->publish(std::move(loan)));
}

TEST_F(IntraProcessPool, ThePoolDoesNotGrowWhenSubscriptionsComeAndGo) {
  const auto publisher = node.create_publisher<Int64>("topic", 2);
  for (int i = 0; i < 10; ++i) {
    Node passing(context, "passing");
    passing.create_subscription<Int64>("topic", 2, kIgnore, intra());
  }
  const auto subscription = node.create_subscription<Int64>("topic", 2, kIgnore, intra());
  std::vector<Loan<Int64>> loans;
  while (Loan<Int64> loan = publisher->borrow()) {
    loans.push_back(std::move(loan));
  }
  EXPECT_EQ(loans.size(), 4U);  // a depth of 2, one that is read, one loan
}

}  // namespace
}  // namespace rclrt::test
