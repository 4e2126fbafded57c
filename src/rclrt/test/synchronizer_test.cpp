// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/joint_state.hpp>
#include <sensor_msgs/msg/temperature.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using sensor_msgs::msg::Imu;
using sensor_msgs::msg::JointState;
using sensor_msgs::msg::Temperature;

class Synchronizers : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, Synchronizers, ::testing::ValuesIn(executor_names()), parameter_name);

template <typename T>
T stamped(std::int32_t sec, std::uint32_t nanosec) {
  T message;
  message.header.stamp.sec = sec;
  message.header.stamp.nanosec = nanosec;
  return message;
}

TEST_P(Synchronizers, RunOncePerPairWithBothMessages) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::pair<int, int>> pairs;
  const auto sync = node.create_synchronizer<Imu, JointState>(
      {"imu", "joints"}, 10, {.policy = SyncPolicy::kExact},
      [&](const Imu& imu, const JointState& joints) {
        pairs.emplace_back(imu.header.stamp.sec, joints.header.stamp.sec);
        if (pairs.size() == 2) {
          spinning->cancel();
        }
      });
  const auto imus = node.create_publisher<Imu>("imu", 10);
  const auto joints = node.create_publisher<JointState>("joints", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] {
    return imus->get_subscription_count() == 1 && joints->get_subscription_count() == 1;
  }));
  for (const std::int32_t sec : {1, 2, 3}) {
    imus->publish(stamped<Imu>(sec, 7));
  }
  joints->publish(stamped<JointState>(1, 7));
  joints->publish(stamped<JointState>(2, 8));  // no partner
  joints->publish(stamped<JointState>(3, 7));
  spinning->spin();
  EXPECT_EQ(pairs, (std::vector<std::pair<int, int>>{{1, 1}, {3, 3}}));
}

TEST_P(Synchronizers, PairApproximatelyWithinTheWindow) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::uint32_t> distances;
  const auto sync = node.create_synchronizer<Imu, JointState>(
      {"imu", "joints"}, 10, {.window = std::chrono::microseconds(10)},
      [&](const Imu& imu, const JointState& joints, const InstanceInfo& info) {
        EXPECT_GT(info.start_ns, 0);
        distances.push_back(joints.header.stamp.nanosec - imu.header.stamp.nanosec);
        spinning->cancel();
      });
  const auto imus = node.create_publisher<Imu>("imu", 10);
  const auto joints = node.create_publisher<JointState>("joints", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] {
    return imus->get_subscription_count() == 1 && joints->get_subscription_count() == 1;
  }));
  imus->publish(stamped<Imu>(1, 0));
  joints->publish(stamped<JointState>(1, 10'001));  // too far
  imus->publish(stamped<Imu>(2, 0));
  joints->publish(stamped<JointState>(2, 10'000));  // just within
  spinning->spin();
  EXPECT_EQ(distances, (std::vector<std::uint32_t>{10'000}));
}

TEST_P(Synchronizers, PutMessagesOfThreeTypesTogether) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::int32_t> stamps;
  const auto sync = node.create_synchronizer<Imu, JointState, Temperature>(
      {"imu", "joints", "temperature"}, 10, {.policy = SyncPolicy::kExact},
      [&](const Imu& imu, const JointState& joints, const Temperature& temperature) {
        stamps = {imu.header.stamp.sec, joints.header.stamp.sec, temperature.header.stamp.sec};
        spinning->cancel();
      });
  EXPECT_EQ(sync.inputs.size(), 3U);
  const auto imus = node.create_publisher<Imu>("imu", 10);
  const auto joints = node.create_publisher<JointState>("joints", 10);
  const auto temperatures = node.create_publisher<Temperature>("temperature", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] {
    return imus->get_subscription_count() == 1 && joints->get_subscription_count() == 1 &&
           temperatures->get_subscription_count() == 1;
  }));
  imus->publish(stamped<Imu>(1, 7));
  temperatures->publish(stamped<Temperature>(2, 7));
  imus->publish(stamped<Imu>(2, 7));
  joints->publish(stamped<JointState>(2, 7));
  spinning->spin();
  EXPECT_EQ(stamps, (std::vector<std::int32_t>{2, 2, 2}));
}

TEST_P(Synchronizers, PutMessagesOfNineTopicsOfOneTypeTogether) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::string> topics;
  std::vector<std::shared_ptr<Publisher<Imu>>> publishers;
  for (int i = 0; i < 9; ++i) {
    topics.push_back("imu" + std::to_string(i));
    publishers.push_back(node.create_publisher<Imu>(topics.back(), 10));
  }
  std::vector<std::string> frames;
  const auto sync = node.create_synchronizer<Imu>(topics, 10, {.policy = SyncPolicy::kExact},
                                                  [&](std::span<const Imu* const> set) {
                                                    for (const Imu* each : set) {
                                                      frames.push_back(each->header.frame_id);
                                                    }
                                                    spinning->cancel();
                                                  });
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually([&] {
    return std::ranges::all_of(
        publishers, [](const auto& each) { return each->get_subscription_count() == 1; });
  }));
  for (std::size_t i = publishers.size(); i-- > 0;) {
    auto message = stamped<Imu>(1, 7);
    message.header.frame_id = topics[i];
    publishers[i]->publish(message);
  }
  spinning->spin();
  EXPECT_EQ(frames, topics);
}

class SharedCallbacks : public EveryExecutor {};
INSTANTIATE_TEST_SUITE_P(, SharedCallbacks, ::testing::ValuesIn(executor_names()), parameter_name);

TEST_P(SharedCallbacks, KnowByWhichTopicTheirMessageCame) {
  Node node(context, "node");
  const auto spinning = executor();
  std::vector<std::pair<std::size_t, std::int32_t>> runs;
  const auto inputs = node.create_subscriptions<Imu>(
      {"left", "right"}, 10, [&](const Imu& message, std::size_t topic) {
        runs.emplace_back(topic, message.header.stamp.sec);
        if (runs.size() == 3) {
          spinning->cancel();
        }
      });
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(&inputs[0]->group(), &inputs[1]->group());
  const auto left = node.create_publisher<Imu>("left", 10);
  const auto right = node.create_publisher<Imu>("right", 10);
  spinning->add_node(node);
  spinning->prepare();
  ASSERT_TRUE(eventually(
      [&] { return left->get_subscription_count() == 1 && right->get_subscription_count() == 1; }));
  left->publish(stamped<Imu>(1, 0));
  right->publish(stamped<Imu>(2, 0));
  left->publish(stamped<Imu>(3, 0));
  spinning->spin();
  std::ranges::sort(runs);  // one wait set takes one message from each in turn
  EXPECT_EQ(runs, (std::vector<std::pair<std::size_t, std::int32_t>>{{0, 1}, {0, 3}, {1, 2}}));
}

}  // namespace
}  // namespace rclrt::test
