// SPDX-License-Identifier: Apache-2.0
// A small robot that is recorded, and the content of its recording.
#pragma once

#include <atomic>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <std_msgs/msg/int64.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "folder.hpp"
#include "rclcpp_fixture.hpp"
#include "rclrt_robot/recording.hpp"

namespace rclrt_robot::test {

using std_msgs::msg::Int64;
using Json = nlohmann::json;

inline std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

inline const Json& named(const Json& list, const std::string& id) {
  for (const Json& each : list) {
    if (each["id"] == id) {
      return each;
    }
  }
  throw std::out_of_range("there is no " + id);
}

/// A chain over two nodes.
struct RecordedRobot {
  explicit RecordedRobot(bool intra_process = false) {
    const auto options = rclcpp::NodeOptions().use_intra_process_comms(intra_process);
    lidar = std::make_shared<rclcpp::Node>("lidar", options);
    planner = std::make_shared<rclcpp::Node>("planner", options);
    points = lidar->create_publisher<Int64>("points", 10);
    stop = planner->create_publisher<Int64>("stop", 10);
    rclcpp::SubscriptionOptions brakes;
    group = planner->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    brakes.callback_group = group;
    entities.push_back(planner->create_subscription<Int64>(
        "points", 10, [this](const Int64& message) { stop->publish(message); }));
    entities.push_back(planner->create_subscription<Int64>(
        "stop", 10, [this](const Int64&) { ++braked; }, brakes));
    scan = lidar->create_wall_timer(10ms, [this] { points->publish(Int64()); });
  }

  std::shared_ptr<rclcpp::Node> lidar;
  std::shared_ptr<rclcpp::Node> planner;
  rclcpp::Publisher<Int64>::SharedPtr points;
  rclcpp::Publisher<Int64>::SharedPtr stop;
  rclcpp::CallbackGroup::SharedPtr group;
  std::vector<rclcpp::SubscriptionBase::SharedPtr> entities;
  rclcpp::TimerBase::SharedPtr scan;
  std::atomic<int> braked{0};
};

inline void spin_until(rclcpp::Executor& executor, const std::function<bool()>& condition) {
  const Spinning spinning(executor);
  EXPECT_TRUE(eventually(condition));
}

}  // namespace rclrt_robot::test
