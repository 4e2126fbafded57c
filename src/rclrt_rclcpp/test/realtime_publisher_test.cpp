// SPDX-License-Identifier: Apache-2.0
#include "rclrt_rclcpp/realtime_publisher.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <std_msgs/msg/float64_multi_array.hpp>
#include <std_msgs/msg/int64.hpp>
#include <vector>

#include "fixture.hpp"
#include "listener.hpp"
#include "rclrt/realtime/cyclic_thread.hpp"
#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt_rclcpp::test {
namespace {

using rclrt::realtime::RtGuard;
using std_msgs::msg::Float64MultiArray;
using std_msgs::msg::Int64;
using testing::HasSubstr;
using testing::ThrowsMessage;

class RealtimePublishing : public Ros {
 protected:
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("robot");
};

TEST_F(RealtimePublishing, MessagesComeInOrderAndNoneIsLostUnseen) {
  Listener<Int64> listener("numbers");
  const auto publisher = node_->create_publisher<Int64>("numbers", 1000);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  constexpr int kMessages = 500;
  std::uint64_t handed_over = 0;
  {
    RealtimePublisher<Int64> realtime(publisher, {.depth = 8});
    for (int number = 0; number < kMessages; ++number) {
      Int64 message;
      message.data = number;
      handed_over += realtime.try_publish(message) ? 1 : 0;
    }
    EXPECT_EQ(realtime.dropped() + handed_over, static_cast<std::uint64_t>(kMessages));
  }  // publishes the waiting messages
  ASSERT_TRUE(eventually([&] { return listener.messages().size() == handed_over; }));
  const std::vector<Int64> messages = listener.messages();
  EXPECT_TRUE(std::is_sorted(messages.begin(), messages.end(),
                             [](const Int64& a, const Int64& b) { return a.data < b.data; }));
}

TEST_F(RealtimePublishing, TheLoopNeitherAllocatesNorLocksNorSleeps) {
  if (const char* reason = RtGuard::blind()) {
    GTEST_SKIP() << reason;
  }
  Listener<Float64MultiArray> listener("joints");
  const auto publisher = node_->create_publisher<Float64MultiArray>("joints", 1000);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  Float64MultiArray prototype;
  prototype.data.resize(7);
  RealtimePublisher<Float64MultiArray> realtime(publisher, {.depth = 4}, prototype);
  int published = 0;
  rclrt::realtime::RtReport report;
  {
    RtGuard guard({.action = rclrt::realtime::RtGuardAction::kCount,
                   .free_locks = true,
                   .page_faults = false});
    for (int cycle = 0; cycle < 1000; ++cycle) {
      if (auto message = realtime.borrow()) {
        message->data.resize(7);
        message->data[6] = cycle;
        message.publish();
        ++published;
      }
    }
    report = guard.report();
  }
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_GT(published, 0);
  EXPECT_TRUE(eventually(
      [&] { return listener.messages().size() == static_cast<std::size_t>(published); }));
}

TEST_F(RealtimePublishing, ALoopOfOursPublishesEachCycle) {
  Listener<Int64> listener("cycles");
  const auto publisher = node_->create_publisher<Int64>("cycles", 1000);
  ASSERT_TRUE(eventually([&] { return publisher->get_subscription_count() == 1; }));
  RealtimePublisher<Int64> realtime(publisher);
  std::atomic<std::int64_t> cycles{0};
  rclrt::realtime::CyclicThread loop({.thread = {.name = "loop"}, .period_ns = 2'000'000},
                                     [&](const rclrt::realtime::Release&) {
                                       if (auto message = realtime.borrow()) {
                                         message->data = cycles++;
                                         message.publish();
                                       }
                                     });
  loop.start();
  EXPECT_TRUE(eventually([&] { return listener.messages().size() >= 20; }));
  loop.stop();
}

TEST_F(RealtimePublishing, AMessageThatIsNotPublishedIsGivenBack) {
  RealtimePublisher<Int64> realtime(node_->create_publisher<Int64>("numbers", 10), {.depth = 1});
  for (int round = 0; round < 10; ++round) {
    auto message = realtime.borrow();
    ASSERT_TRUE(message);
    message->data = round;
  }
  EXPECT_EQ(realtime.dropped(), 0U);
  auto last = realtime.borrow();
  EXPECT_EQ(last->data, 9);
}

TEST_F(RealtimePublishing, CountsWhatCannotBePublishedAfterAShutdown) {
  const auto context = std::make_shared<rclcpp::Context>();
  context->init(0, nullptr);
  const auto node = std::make_shared<rclcpp::Node>("other", rclcpp::NodeOptions().context(context));
  RealtimePublisher<Int64> realtime(node->create_publisher<Int64>("numbers", 10));
  context->shutdown("test");
  EXPECT_TRUE(realtime.try_publish(Int64()));
  EXPECT_TRUE(eventually([&] { return realtime.failed() == 1; }));
  EXPECT_EQ(realtime.published(), 0U);
}

TEST_F(RealtimePublishing, ItsThreadHasTheStatedScheduling) {
  RCLRT_SKIP_WITHOUT_REALTIME();
  const RealtimePublisher<Int64> realtime(
      node_->create_publisher<Int64>("arm/numbers", 10),
      {.scheduling = {.policy = rclrt::realtime::Policy::kFifo, .priority = 30}});
  const auto threads = rclrt::realtime::thread_ids();
  EXPECT_TRUE(std::any_of(threads.begin(), threads.end(), [](pid_t tid) {
    return rclrt::realtime::thread_name(tid) == "pub numbers" &&
           rclrt::realtime::read_scheduling(tid)->priority == 30;
  }));
}

TEST_F(RealtimePublishing, RefusesNoPublisherAndNoRoom) {
  EXPECT_THAT(
      [&] { RealtimePublisher<Int64>(nullptr); },
      ThrowsMessage<std::invalid_argument>("a RealtimePublisher needs a publisher, not nullptr"));
  EXPECT_THAT(
      [&] { RealtimePublisher<Int64>(node_->create_publisher<Int64>("n", 1), {.depth = 0}); },
      ThrowsMessage<std::invalid_argument>(HasSubstr("capacity must be at least 1")));
}

}  // namespace
}  // namespace rclrt_rclcpp::test
