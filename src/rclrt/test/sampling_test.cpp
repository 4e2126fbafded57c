// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <mutex>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using namespace std::chrono_literals;
using geometry_msgs::msg::PointStamped;
using std_msgs::msg::Int64;

constexpr std::int64_t kConversion_ns = 1'000'000;  // between two clocks

class Sampling : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, Sampling, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(Sampling, TheOriginOfACameraReachesTheControllerThroughTwoTimers) {
  Node node(context, "node");
  const auto spinning = executor();
  const auto frames = node.create_publisher<PointStamped>("frames", 1);
  const auto path = node.create_publisher<PointStamped>("path", 1);
  // The camera numbers its releases, so the test knows the origin of each value.
  std::mutex mutex;
  std::vector<std::int64_t> releases;
  const auto camera = node.create_wall_timer(4ms, [&](const InstanceInfo& info) {
    PointStamped frame;
    frame.header.stamp = stamp_of(info.release_ns);
    {
      const std::scoped_lock lock(mutex);
      frame.point.x = static_cast<double>(releases.size());
      releases.push_back(info.release_ns);
    }
    frames->publish(frame);
  });
  const auto x_of = [](const PointStamped& message) { return message.point.x; };
  const auto seen = create_sampled_subscription<PointStamped>(node, "frames", 1, x_of);
  const auto planner = create_sampling_timer(node, 3ms, seen, [&](const Sample<double>& frame) {
    if (frame.is_stored()) {
      PointStamped message;
      message.header.stamp = stamp_of(frame.origin);
      message.point.x = frame.value;
      path->publish(message);
    }
  });
  const auto followed = create_sampled_subscription<PointStamped>(node, "path", 1, x_of);
  std::uint64_t checked = 0;
  std::uint64_t last = 0;
  const auto controller = create_sampling_timer(
      node, 2ms, followed, [&](const Sample<double>& sample, const InstanceInfo& info) {
        if (!sample.is_stored()) {
          EXPECT_EQ(sample.age_ns(), 0);
          return;
        }
        const std::scoped_lock lock(mutex);
        const std::int64_t release_ns = releases.at(static_cast<std::size_t>(sample.value));
        EXPECT_NEAR(static_cast<double>(sample.origin.since_ns - release_ns), 0, kConversion_ns);
        EXPECT_TRUE(sample.origin.is_whole);
        EXPECT_GE(sample.age_ns(), info.start_ns - sample.origin.since_ns);
        EXPECT_GE(sample.number, last);
        last = sample.number;
        if (++checked == 10) {
          spinning->cancel();
        }
      });
  spinning->add_node(node);
  spinning->spin();
  EXPECT_GE(checked, 10U);
}

TEST_P(Sampling, OneTimerSamplesSeveralTopicsAndAMessageWithoutAStampCountsFromItsArrival) {
  Node node(context, "node");
  const auto spinning = executor();
  const auto numbers = node.create_publisher<Int64>("numbers", QoS(1).transient_local());
  const auto points = node.create_publisher<PointStamped>("points", QoS(1).transient_local());
  // Trivially copyable: it is stored as it is.
  const auto number = create_sampled_subscription<Int64>(node, "numbers", QoS(1).transient_local());
  // Its origin is elsewhere in the message.
  const auto point = create_sampled_subscription<PointStamped>(
      node, "points", QoS(1).transient_local(), [](const PointStamped& message) {
        return Sample<float>{.value = 1.5F,
                             .origin = {static_cast<std::int64_t>(message.point.x), true}};
      });
  const std::int64_t before_ns = realtime::monotonic_now_ns();
  const auto timer = create_sampling_timer(node, 1ms, std::tuple(number, point),
                                           [&](const Sample<Int64>& a, const Sample<float>& b) {
                                             if (!a.is_stored() || !b.is_stored()) {
                                               return;
                                             }
                                             EXPECT_EQ(a.value.data, 5);
                                             EXPECT_FALSE(a.origin.is_whole);
                                             EXPECT_GE(a.origin.since_ns, before_ns);
                                             EXPECT_EQ(b.value, 1.5F);
                                             EXPECT_EQ(b.origin.since_ns, 77);
                                             EXPECT_TRUE(b.origin.is_whole);
                                             spinning->cancel();
                                           });
  Int64 five;
  five.data = 5;
  PointStamped message;
  message.point.x = 77;
  ASSERT_TRUE(numbers->publish(five));
  ASSERT_TRUE(points->publish(message));
  spinning->add_node(node);
  spinning->spin();
}

TEST(SampledSubscriptions, HaveAFixedNumberOfReaders) {
  Node node(make_context(), "node");
  const auto number = create_sampled_subscription<Int64>(node, "numbers", 1, {}, {}, 1);
  const auto read = [](const Sample<Int64>& /*sample*/) {};
  const auto timer = create_sampling_timer(node, 1ms, number, read);
  EXPECT_THROW(create_sampling_timer(node, 1ms, number, read), std::length_error);
}

/// The store and the read are on different threads, which preempt each other.
TEST(SampledSubscriptions, NeverMixTwoMessagesWhileOtherThreadsRead) {
  struct Value {
    std::int64_t number = 0;
    std::int64_t same = 0;
  };
  const auto context = make_context();
  Node node(context, "node");
  const auto publisher = node.create_publisher<Int64>("numbers", 100);
  const auto reentrant = node.create_callback_group(CallbackGroupType::kReentrant);
  const auto sampled = create_sampled_subscription<Int64>(
      node, "numbers", 100,
      [](const Int64& message) {
        return Sample<Value>{.value = {message.data, message.data}, .origin = {message.data, true}};
      },
      {.priority = 1, .group = reentrant, .intra_process = true});
  std::int64_t sent = 0;
  const auto source = node.create_wall_timer(200us, [&] {
    Int64 message;
    message.data = ++sent;
    publisher->publish(message);
  });
  PreemptiveExecutor executor(context, {.name = "test", .workers_per_level = 2});
  std::atomic<bool> mixed{false};
  constexpr std::size_t kReaders = 2;
  std::array<std::atomic<std::uint64_t>, kReaders> reads{};
  for (std::size_t i = 0; i < kReaders; ++i) {
    create_sampling_timer(node, 100us, sampled,
                          [&, i](const Sample<Value>& sample) {
                            const auto number = sample.value.number;
                            mixed = mixed || sample.value.same != number ||
                                    sample.origin.since_ns != number;
                            if (++reads[i] >= 500 && reads[1 - i] >= 500 && number > 100) {
                              executor.cancel();
                            }
                          },
                          {.priority = 2, .group = reentrant});
  }
  executor.add_node(node);
  executor.spin();
  EXPECT_FALSE(mixed);
}

TEST(StampOf, AnOriginThatIsNotWholeIsZero) {
  using builtin_interfaces::msg::Time;
  EXPECT_EQ(stamp_of(Origin{}), Time());
  EXPECT_EQ(stamp_of(Origin{realtime::monotonic_now_ns(), false}), Time());
  EXPECT_NE(stamp_of(Origin{realtime::monotonic_now_ns(), true}), Time());
}

}  // namespace
}  // namespace rclrt::test
