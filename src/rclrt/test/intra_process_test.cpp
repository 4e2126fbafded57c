// SPDX-License-Identifier: Apache-2.0
// Messages handed over by reference within one context.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <sensor_msgs/msg/imu.hpp>
#include <std_msgs/msg/int64.hpp>
#include <std_msgs/msg/string.hpp>
#include <thread>

#include "numbers.hpp"
#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using sensor_msgs::msg::Imu;
using std_msgs::msg::Int64;
using std_msgs::msg::String;

constexpr std::size_t kLarge = 100'000;

CallbackOptions intra(int priority = 0) { return {.priority = priority, .intra_process = true}; }

void expect_balance(const executor::Callback& callback) {
  const auto counters = callback.counters();
  EXPECT_EQ(counters.released, counters.completed + counters.dropped);
}

class IntraProcess : public EveryExecutor {
 protected:
  Node node{context, "node"};
};
INSTANTIATE_TEST_SUITE_P(Every, IntraProcess, ::testing::ValuesIn(executor_names()),
                         parameter_name);

TEST_P(IntraProcess, EveryMessageWithinTheDepthArrivesOnceInOrderAndWithoutTheMiddleware) {
  std::vector<std::int64_t> received;
  const auto spinning = executor({.cpus = {realtime::allowed_cpus().front()}});
  const auto subscription = node.create_subscription<Int64>(
      "numbers", 50,
      [&](const Int64& message) {
        received.push_back(message.data);
        if (message.data == 49) {
          spinning->cancel();
        }
      },
      intra());
  const auto publisher = node.create_publisher<Int64>("numbers", 50);
  EXPECT_EQ(publisher->get_intra_process_subscription_count(), 1U);
  EXPECT_EQ(publisher->get_subscription_count(), 1U);  // at once, without discovery
  spinning->add_node(node);
  spinning->prepare();
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(publisher->publish(number(i)));
  }
  spinning->spin();
  ASSERT_EQ(received.size(), 50U);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)], i);
  }
  EXPECT_EQ(subscription->counters().completed, 50U);
  EXPECT_EQ(subscription->counters().dropped, 0U);  // the middleware brought none of them again
}

TEST_P(IntraProcess, ABorrowedMessageIsReadWhereItWasWritten) {
  const auto spinning = executor();
  const String* written = nullptr;
  std::array<const String*, 2> read{};
  std::atomic<int> runs{0};
  for (auto& each : read) {
    node.create_subscription<String>(
        "text", 5,
        [&](const String& message) {
          each = &message;
          EXPECT_EQ(message.data, std::string(kLarge, 'x'));
          if (++runs == 2) {
            spinning->cancel();
          }
        },
        intra());
  }
  const auto publisher = node.create_publisher<String>("text", 5);
  spinning->add_node(node);
  spinning->prepare();
  Loan<String> loan = publisher->borrow();
  ASSERT_TRUE(loan);
  loan->data.assign(kLarge, 'x');
  written = &*loan;
  EXPECT_TRUE(publisher->publish(std::move(loan)));
  EXPECT_FALSE(loan);  // NOLINT(bugprone-use-after-move)
  spinning->spin();
  EXPECT_EQ(read[0], written);
  EXPECT_EQ(read[1], written);
}

TEST_P(IntraProcess, MessagesThatWerePublishedBeforePrepareAreNotForgotten) {
  const auto spinning = executor();
  std::atomic<int> received{0};
  node.create_subscription<Int64>(
      "early", 5,
      [&](const Int64&) {
        if (++received == 3) {
          spinning->cancel();
        }
      },
      intra());
  const auto publisher = node.create_publisher<Int64>("early", 5);
  for (int i = 0; i < 3; ++i) {
    publisher->publish(number(i));
  }
  spinning->add_node(node);
  spinning->spin();  // hangs when one is forgotten
  EXPECT_EQ(received.load(), 3);
}

TEST_P(IntraProcess, ABurstBeyondTheDepthKeepsTheNewestAndLeavesNoneBehind) {
  std::vector<std::int64_t> received;
  const auto spinning = executor({.cpus = {realtime::allowed_cpus().front()}});
  const auto subscription = node.create_subscription<Int64>(
      "burst", 4,
      [&](const Int64& message) {
        received.push_back(message.data);
        if (message.data == 99) {
          spinning->cancel();
        }
      },
      intra());
  const auto last = node.create_publisher<Int64>("burst", 20);
  spinning->add_node(node);
  spinning->prepare();
  for (int i = 90; i < 100; ++i) {
    last->publish(number(i));
  }
  spinning->spin();
  EXPECT_EQ(received, (std::vector<std::int64_t>{96, 97, 98, 99}));
  if (GetParam() != "wait_set") {  // wait_set finds a message only when it takes it
    EXPECT_EQ(subscription->counters().released, 10U);
  }
  const auto counters = subscription->counters();
  EXPECT_EQ(counters.completed, 4U);
  EXPECT_LE(counters.pending(), 6U) << "cancel leaves what it found waiting";
  EXPECT_EQ(last->exhausted(), 0U);
}

TEST_P(IntraProcess, CallbacksMayPublishToEachOther) {
  const auto spinning = executor();
  const auto to_pong = node.create_publisher<Int64>("ping", 10);
  const auto to_ping = node.create_publisher<Int64>("pong", 10);
  node.create_subscription<Int64>(
      "ping", 10, [&](const Int64& message) { to_ping->publish(number(message.data + 1)); },
      intra());
  std::atomic<std::int64_t> last{0};
  node.create_subscription<Int64>(
      "pong", 10,
      [&](const Int64& message) {
        last = message.data;
        if (message.data == 1000) {
          spinning->cancel();
        } else {
          to_pong->publish(number(message.data));
        }
      },
      intra(3));
  spinning->add_node(node);
  spinning->prepare();
  to_pong->publish(number(0));
  spinning->spin();
  EXPECT_EQ(last.load(), 1000);
}

TEST_P(IntraProcess, ACallbackMayPublishToItself) {
  const auto spinning = executor();
  const auto publisher = node.create_publisher<Int64>("self", 1);
  std::int64_t last = 0;
  node.create_subscription<Int64>(
      "self", 1,
      [&](const Int64& message) {
        last = message.data;
        if (last == 100) {
          spinning->cancel();
        } else {
          EXPECT_TRUE(publisher->publish(number(last + 1)));
        }
      },
      intra());
  spinning->add_node(node);
  spinning->prepare();
  publisher->publish(number(0));
  spinning->spin();
  EXPECT_EQ(last, 100);
}

TEST_P(IntraProcess, TheCallbackIsToldWhenItsMessageBecameReady) {
  const auto spinning = executor();
  InstanceInfo seen;
  node.create_subscription<Int64>(
      "info", 10,
      [&](const Int64&, const InstanceInfo& info) {
        seen = info;
        spinning->cancel();
      },
      intra(5));
  const auto publisher = node.create_publisher<Int64>("info", 10);
  spinning->add_node(node);
  spinning->prepare();
  const std::int64_t before = realtime::monotonic_now_ns();
  publisher->publish(number(1));
  const std::int64_t after = realtime::monotonic_now_ns();
  spinning->spin();
  EXPECT_EQ(seen.level, 5);
  EXPECT_GE(seen.ready_ns, before);
  EXPECT_LE(seen.ready_ns, after);
  EXPECT_EQ(seen.release_ns, seen.ready_ns);
  EXPECT_GE(seen.start_ns, seen.ready_ns);
}

TEST_P(IntraProcess, OrdinarySubscriptionsAndOtherContextsGetTheMessageFromTheMiddleware) {
  const auto elsewhere = make_context();
  Node other(elsewhere, "other");
  const auto spinning = executor();
  const auto spinning_elsewhere = make_executor(GetParam(), elsewhere, {.name = "elsewhere"});
  std::array<std::atomic<int>, 4> runs{};
  const auto count = [&](std::size_t i) { return [&runs, i](const Int64&) { ++runs[i]; }; };
  const auto by_reference = node.create_subscription<Int64>("mixed", 5, count(0), intra());
  const auto ordinary = node.create_subscription<Int64>("mixed", 5, count(1));
  const auto far = other.create_subscription<Int64>("mixed", 5, count(2), intra());
  const auto far_ordinary = other.create_subscription<Int64>("mixed", 5, count(3));
  const auto publisher = node.create_publisher<Int64>("mixed", 5);
  EXPECT_EQ(publisher->get_intra_process_subscription_count(), 1U);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 4; }));
  spinning->add_node(node);
  spinning_elsewhere->add_node(other);
  std::thread here([&] { spinning->spin(); });
  std::thread there([&] { spinning_elsewhere->spin(); });
  for (int i = 1; i <= 20; ++i) {
    EXPECT_TRUE(publisher->publish(number(i)));
    for (const auto& each : runs) {
      EXPECT_TRUE(eventually([&] { return each == i; }));
    }
  }
  spinning->cancel();
  spinning_elsewhere->cancel();
  here.join();
  there.join();
  for (const auto& each : runs) {
    EXPECT_EQ(each, 20);  // none twice
  }
  expect_balance(*by_reference);
  expect_balance(*far);
  if (GetParam() != "wait_set") {  // wait_set finds out that it is a copy only when it takes it
    // Nearly all copies are known as such when they come; some come late, on another thread.
    EXPECT_LT(by_reference->counters().dropped, 20U);
  }
}

TEST_P(IntraProcess, MessagesFromWithinAndFromOutsideComeThroughOneCallback) {
  const auto elsewhere = make_context();
  Node other(elsewhere, "other");
  const auto spinning = executor();
  std::vector<std::int64_t> received;
  std::atomic<std::size_t> runs{0};
  const auto subscription = node.create_subscription<Int64>(
      "both", 20,
      [&](const Int64& message) {
        received.push_back(message.data);
        ++runs;
      },
      intra());
  const auto within = node.create_publisher<Int64>("both", 20);
  const auto outside = other.create_publisher<Int64>("both", 20);
  ASSERT_TRUE(eventually([&] { return subscription->get_publisher_count() == 2; }));
  ASSERT_TRUE(eventually([&] { return outside->get_subscription_count() == 1; }));
  spinning->add_node(node);
  spinning->prepare();
  for (int i = 0; i < 20; ++i) {
    within->publish(number(i));
    outside->publish(number(100 + i));
  }
  std::thread spinner([&] { spinning->spin(); });
  EXPECT_TRUE(eventually([&] { return runs == 40; }));
  spinning->cancel();
  spinner.join();
  std::sort(received.begin(), received.end());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(received[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(received[static_cast<std::size_t>(20 + i)], 100 + i);
  }
}

TEST_P(IntraProcess, ASynchroniserPairsMessagesThatWereHandedOver) {
  const auto spinning = executor();
  std::vector<std::string> pairs;
  node.create_synchronizer<Imu, Imu>(
      {"left", "right"}, 5, {.policy = SyncPolicy::kExact},
      [&](const Imu& left, const Imu& right) {
        pairs.push_back(left.header.frame_id + right.header.frame_id);
        if (pairs.size() == 2) {
          spinning->cancel();
        }
      },
      intra());
  const auto left = node.create_publisher<Imu>("left", 5);
  const auto right = node.create_publisher<Imu>("right", 5);
  spinning->add_node(node);
  spinning->prepare();
  Imu message;
  for (int i = 1; i <= 2; ++i) {
    message.header.stamp.sec = i;
    message.header.frame_id = "l" + std::to_string(i);
    left->publish(message);
    message.header.frame_id = "r" + std::to_string(i);
    right->publish(message);
  }
  spinning->spin();
  EXPECT_EQ(pairs, (std::vector<std::string>{"l1r1", "l2r2"}));
}

}  // namespace
}  // namespace rclrt::test
