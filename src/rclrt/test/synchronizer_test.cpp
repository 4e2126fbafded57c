// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sensor_msgs/msg/imu.hpp>
#include <sensor_msgs/msg/joint_state.hpp>

#include "ros_fixture.hpp"

namespace rclrt::test {
namespace {

using sensor_msgs::msg::Imu;
using sensor_msgs::msg::JointState;

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
      "imu", "joints", 10, {.policy = SyncPolicy::kExact},
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
      "imu", "joints", 10, {.window = std::chrono::microseconds(10)},
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

}  // namespace
}  // namespace rclrt::test
