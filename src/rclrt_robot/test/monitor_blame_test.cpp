// SPDX-License-Identifier: Apache-2.0
// Reports to operators on causes of misses other than callbacks.
#include <algorithm>
#include <atomic>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <string>
#include <thread>

#include "monitor_fixture.hpp"
#include "rclrt_rclcpp/sampling.hpp"

namespace rclrt_robot::test {
namespace {

TEST_F(MonitorTest, BlamesThePublisherForTheTimeBeforeItPublished) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("controller");
  const auto subscription = node->create_subscription<geometry_msgs::msg::PointStamped>(
      "points", 10, [](const geometry_msgs::msg::PointStamped&) {});
  const auto slow = std::make_shared<rclcpp::Node>("slow", "/robot");
  const auto publisher = slow->create_publisher<geometry_msgs::msg::PointStamped>("/points", 10);
  std::atomic<int> published{0};
  const auto timer = slow->create_wall_timer(10ms, [&] {
    geometry_msgs::msg::PointStamped message;
    // Every tenth has been on its way for a quarter of a second.
    const auto age = ++published % 10 == 0 ? 250ms : 0ms;
    message.header.stamp = slow->now() - rclcpp::Duration(age);
    publisher->publish(message);
  });
  robot.executor().set_timing(subscription, {.max_age = 200ms});
  robot.executor().add_node(node);
  robot.executor().add_node(slow);
  const std::string name = "rclrt: /controller subscription /points";
  const auto is_blamed = [](const DiagnosticStatus& each) {
    return each.level == DiagnosticStatus::WARN &&
           value_of(each, "most_in_the_way") == "/robot/slow before it published";
  };
  spin(robot, [&] {
    const auto statuses = operator_.statuses(name);
    return std::any_of(statuses.begin(), statuses.end(), is_blamed);
  });
  const DiagnosticStatus status = operator_.statuses(name).back();
  EXPECT_EQ(value_of(status, "limit_of"), "age");
  EXPECT_EQ(value_of(status, "deadline_ms"), "200.000");
  EXPECT_EQ(value_of(status, "unstamped"), "0");
}

TEST_F(MonitorTest, NamesWhatAlwaysTakesTooLong) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("controller");
  const auto subscription = node->create_subscription<geometry_msgs::msg::PointStamped>(
      "points", 10, [](const geometry_msgs::msg::PointStamped&) {});
  const auto publisher = node->create_publisher<geometry_msgs::msg::PointStamped>("points", 10);
  const auto timer = node->create_wall_timer(10ms, [&] {
    geometry_msgs::msg::PointStamped message;
    message.header.stamp = node->now() - rclcpp::Duration(40s);
    publisher->publish(message);
  });
  robot.executor().set_timing(subscription, {.max_age = 20s});
  robot.executor().add_node(node);
  spin(robot, [&] {
    const auto statuses = operator_.statuses("rclrt: /controller subscription /points");
    return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return value_of(each, "most_in_the_way") == "/controller before it published";
    });
  });
}

TEST_F(MonitorTest, NamesTheSampledDataOfATimer) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("controller");
  const auto points = rclrt_rclcpp::create_sampled_subscription<geometry_msgs::msg::PointStamped>(
      *node, "points", 10,
      [](const geometry_msgs::msg::PointStamped& point) { return point.point.x; });
  const auto control = rclrt_rclcpp::create_sampling_timer(*node, 5ms, points, [](const auto&) {});
  const auto camera = std::make_shared<rclcpp::Node>("camera");
  const auto publisher = camera->create_publisher<geometry_msgs::msg::PointStamped>("points", 10);
  const auto timer = camera->create_wall_timer(10ms, [&] {
    geometry_msgs::msg::PointStamped message;
    message.header.stamp = camera->now() - rclcpp::Duration(40s);
    publisher->publish(message);
  });
  robot.executor().set_timing(control, {.max_age = 20s});
  robot.executor().add_node(node);
  robot.executor().add_node(camera);
  spin(robot, [&] {
    const auto statuses = operator_.statuses("rclrt: /controller timer 0");
    return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return value_of(each, "limit_of") == "age" &&
             value_of(each, "most_in_the_way") == "the sampled data before the release";
    });
  });
}

TEST_F(MonitorTest, WarnsOfMessagesWithoutAUsableStamp) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto subscription = node->create_subscription<geometry_msgs::msg::PointStamped>(
      "points", 10, [](const geometry_msgs::msg::PointStamped&) {});
  const auto publisher = node->create_publisher<geometry_msgs::msg::PointStamped>("points", 10);
  const auto timer =
      node->create_wall_timer(5ms, [&] { publisher->publish(geometry_msgs::msg::PointStamped()); });
  robot.executor().set_timing(subscription, {.max_age = 1h});
  robot.executor().add_node(node);
  spin(robot, [&] {
    const auto statuses = operator_.statuses("rclrt: /node subscription /points");
    return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return each.level == DiagnosticStatus::WARN &&
             each.message.find(" without a usable stamp") != std::string::npos;
    });
  });
}

TEST_F(MonitorTest, ItsOwnSleepIsExplainedByNobody) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(100ms, [] { std::this_thread::sleep_for(80ms); });
  robot.executor().set_timing(timer, {.deadline = 60ms});
  robot.executor().add_node(node);
  spin(robot, [&] {
    const auto statuses = operator_.statuses("rclrt: /node timer 0");
    return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return value_of(each, "most_in_the_way") == "unexplained";
    });
  });
}

TEST_F(MonitorTest, CountsTheMissesWhoseBlameFoundNoRoom) {
  RobotOptions with_little_room = options();
  with_little_room.monitor->capacity = 1;
  with_little_room.monitor->period = 300ms;
  Robot robot(with_little_room);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(5ms, [] { burn(2ms); });
  robot.executor().set_timing(timer, {.deadline = 1ms});
  robot.executor().add_node(node);
  spin(robot, [&] {
    const auto statuses = operator_.statuses(process_name());
    return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return value_of(each, "misses_without_blame") != "0";
    });
  });
  const auto statuses = operator_.statuses("rclrt: /node timer 0");
  ASSERT_FALSE(statuses.empty());
  EXPECT_GT(std::stoull(value_of(statuses.back(), "missed")), 2U) << "all of them are counted";
}

TEST_F(MonitorTest, BlamesALongRunOnTheCallbackItself) {
  Robot robot(options());
  const auto node = std::make_shared<rclcpp::Node>("node");
  int runs = 0;
  const auto timer = node->create_wall_timer(100ms, [&] {
    if (++runs % 5 == 0) {
      burn(80ms);
    }
  });
  // Real time, where permitted, so that other load of the machine is not to blame.
  robot.executor().set_timing(timer, {.priority = 1, .deadline = 60ms});
  robot.executor().add_node(node);
  spin(robot, [&] {
    const auto statuses = operator_.statuses("rclrt: /node timer 0");
    return std::any_of(statuses.begin(), statuses.end(), [](const DiagnosticStatus& each) {
      return value_of(each, "most_in_the_way") == "its own execution";
    });
  });
}

}  // namespace
}  // namespace rclrt_robot::test
