// SPDX-License-Identifier: Apache-2.0
// A robot that Nav2 drives: publishes map, transforms, odometry and laser scans, asks for twenty
// plans a second, follows the first one, and records the arrival of each command.
//
//   simulated_robot SECONDS
//
// Prints "begin" when it moves, and at the end its results as JSON, with the arrival of each
// command (CLOCK_MONOTONIC).
#include <tf2_ros/static_transform_broadcaster.h>
#include <tf2_ros/transform_broadcaster.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <geometry_msgs/msg/transform_stamped.hpp>
#include <geometry_msgs/msg/twist.hpp>
#include <memory>
#include <nav2_msgs/action/compute_path_to_pose.hpp>
#include <nav2_msgs/action/follow_path.hpp>
#include <nav_msgs/msg/occupancy_grid.hpp>
#include <nav_msgs/msg/odometry.hpp>
#include <nlohmann/json.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "rclrt/realtime/clock.hpp"

namespace {

using namespace std::chrono_literals;
using ComputePath = nav2_msgs::action::ComputePathToPose;
using FollowPath = nav2_msgs::action::FollowPath;
using PlanResult = rclcpp_action::ClientGoalHandle<ComputePath>::WrappedResult;

constexpr int kCells = 1000;        // along each side of the map
constexpr double kCellSize = 0.05;  // m, as the next two
constexpr double kHalfWidth = kCells * kCellSize / 2;
constexpr double kGoalDistance = 0.8 * kHalfWidth;  // from the middle, along each axis
constexpr auto kStep = 20ms;
constexpr auto kPlanning = 50ms;
constexpr int kPatience = 40;  // requests skipped during a plan before it is given up

class SimulatedRobot : public rclcpp::Node {
 public:
  SimulatedRobot() : Node("simulated_robot"), transforms_(*this), fixed_(*this) {
    executor_.add_node(get_node_base_interface());
    arrivals_ns_.reserve(1'000'000);
    publish_map();
    fixed_.sendTransform(
        {transform("map", "odom", 0, 0, 0), transform("base_link", "laser", 0, 0, 0)});
    odometry_ = create_publisher<nav_msgs::msg::Odometry>("odom", 10);
    scans_ = create_publisher<sensor_msgs::msg::LaserScan>("scan", rclcpp::SensorDataQoS());
    moving_ = create_wall_timer(kStep, [this] { move(); });
    scanning_ = create_wall_timer(100ms, [this] { publish_scan(); });
    commands_ = create_subscription<geometry_msgs::msg::Twist>(
        "cmd_vel", 10, [this](const geometry_msgs::msg::Twist& command) {
          arrivals_ns_.push_back(rclrt::realtime::monotonic_now_ns());
          command_ = command;
        });
    planner_ = rclcpp_action::create_client<ComputePath>(this, "compute_path_to_pose");
    follower_ = rclcpp_action::create_client<FollowPath>(this, "follow_path");
  }

  /// Waits for Nav2 and until the robot moves; then runs for `time`.
  void run(std::chrono::seconds time) {
    spin_until([this] { return planner_->action_server_is_ready(); }, "the planner");
    spin_until([this] { return follower_->action_server_is_ready(); }, "the controller");
    planning_ = create_wall_timer(kPlanning, [this] { ask_for_plan(); });
    spin_until([this] { return x_m_ > 0.5; }, "the first half metre");
    begin_ns_ = rclrt::realtime::monotonic_now_ns();
    plans_ = failures_ = 0;
    std::printf("begin\n");
    std::fflush(stdout);
    const auto end = std::chrono::steady_clock::now() + time;
    while (rclcpp::ok() && std::chrono::steady_clock::now() < end) {
      executor_.spin_once(50ms);
    }
    end_ns_ = rclrt::realtime::monotonic_now_ns();
  }

  nlohmann::json results() const {
    return {{"begin_ns", begin_ns_}, {"end_ns", end_ns_},     {"arrivals_ns", arrivals_ns_},
            {"plans", plans_},       {"failures", failures_}, {"paths_ended", paths_ended_}};
  }

 private:
  template <typename Condition>
  void spin_until(Condition condition, const std::string& what) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!condition()) {
      if (!rclcpp::ok() || std::chrono::steady_clock::now() > end) {
        throw std::runtime_error("waiting for " + what +
                                 " took longer than 60 s; is Nav2 running in the same ROS domain?");
      }
      executor_.spin_once(50ms);
    }
  }

  geometry_msgs::msg::TransformStamped transform(const std::string& from, const std::string& to,
                                                 double x_m, double y_m, double yaw) const {
    geometry_msgs::msg::TransformStamped result;
    result.header.stamp = now();
    result.header.frame_id = from;
    result.child_frame_id = to;
    result.transform.translation.x = x_m;
    result.transform.translation.y = y_m;
    result.transform.rotation.z = std::sin(yaw / 2);
    result.transform.rotation.w = std::cos(yaw / 2);
    return result;
  }

  /// Publishes a field of pillars, 2 m apart, around the way to the goal.
  void publish_map() {
    map_ = create_publisher<nav_msgs::msg::OccupancyGrid>("map", rclcpp::QoS(1).transient_local());
    nav_msgs::msg::OccupancyGrid map;
    map.header.stamp = now();
    map.header.frame_id = "map";
    map.info.resolution = static_cast<float>(kCellSize);
    map.info.width = kCells;
    map.info.height = kCells;
    map.info.origin.position.x = -kHalfWidth;
    map.info.origin.position.y = -kHalfWidth;
    map.info.origin.orientation.w = 1;
    map.data.resize(static_cast<std::size_t>(kCells) * kCells, 0);
    constexpr int kApart = 40;
    constexpr int kWide = 4;
    for (int row = kApart / 4; row + kWide < kCells; row += kApart) {
      for (int column = kApart / 4; column + kWide < kCells; column += kApart) {
        for (int cell = 0; cell < kWide * kWide; ++cell) {
          const int at = (row + cell / kWide) * kCells + column + cell % kWide;
          map.data[static_cast<std::size_t>(at)] = 100;
        }
      }
    }
    map_->publish(map);
  }

  void move() {
    const double step_s = std::chrono::duration<double>(kStep).count();
    yaw_ += command_.angular.z * step_s;
    x_m_ += command_.linear.x * std::cos(yaw_) * step_s;
    y_m_ += command_.linear.x * std::sin(yaw_) * step_s;
    const auto place = transform("odom", "base_link", x_m_, y_m_, yaw_);
    transforms_.sendTransform(place);
    nav_msgs::msg::Odometry odometry;
    odometry.header = place.header;
    odometry.child_frame_id = "base_link";
    odometry.pose.pose.position.x = x_m_;
    odometry.pose.pose.position.y = y_m_;
    odometry.pose.pose.orientation = place.transform.rotation;
    odometry.twist.twist = command_;
    odometry_->publish(odometry);
  }

  /// Publishes a scan without obstacles: the pillars are in the map.
  void publish_scan() {
    constexpr int kRays = 360;
    sensor_msgs::msg::LaserScan scan;
    scan.header.stamp = now();
    scan.header.frame_id = "laser";
    scan.angle_min = static_cast<float>(-M_PI);
    scan.angle_increment = static_cast<float>(2 * M_PI / kRays);
    scan.angle_max = scan.angle_min + kRays * scan.angle_increment;
    scan.range_min = 0.1F;
    scan.range_max = 8;
    scan.ranges.assign(kRays, 7.5F);
    scans_->publish(scan);
  }

  /// Requests a plan unless a request is active. Nav2 may not be active yet, and may lose a goal.
  void ask_for_plan() {
    if (plan_is_under_way_ && ++waited_ < kPatience) {
      return;
    }
    failures_ += plan_is_under_way_ ? 1 : 0;
    plan_is_under_way_ = true;
    waited_ = 0;
    ComputePath::Goal goal;
    goal.goal.header.stamp = now();
    goal.goal.header.frame_id = "map";
    goal.goal.pose.position.x = kGoalDistance;
    goal.goal.pose.position.y = kGoalDistance;
    goal.goal.pose.orientation.w = 1;
    rclcpp_action::Client<ComputePath>::SendGoalOptions options;
    options.goal_response_callback = [this](const auto& handle) {
      plan_is_under_way_ = handle != nullptr;
    };
    options.result_callback = [this](const PlanResult& result) {
      plan_is_under_way_ = false;
      if (result.code != rclcpp_action::ResultCode::SUCCEEDED) {
        ++failures_;
        return;
      }
      ++plans_;
      if (!follows_) {
        follow(result.result->path);
      }
    };
    planner_->async_send_goal(goal, options);
  }

  void follow(const nav_msgs::msg::Path& path) {
    follows_ = true;
    FollowPath::Goal goal;
    goal.path = path;
    goal.controller_id = "FollowPath";
    rclcpp_action::Client<FollowPath>::SendGoalOptions options;
    options.goal_response_callback = [this](const auto& handle) { follows_ = handle != nullptr; };
    options.result_callback = [this](const auto&) {
      ++paths_ended_;
      follows_ = false;
    };
    follower_->async_send_goal(goal, options);
  }

  rclcpp::executors::SingleThreadedExecutor executor_;
  tf2_ros::TransformBroadcaster transforms_;
  tf2_ros::StaticTransformBroadcaster fixed_;
  rclcpp::Publisher<nav_msgs::msg::OccupancyGrid>::SharedPtr map_;
  rclcpp::Publisher<nav_msgs::msg::Odometry>::SharedPtr odometry_;
  rclcpp::Publisher<sensor_msgs::msg::LaserScan>::SharedPtr scans_;
  rclcpp::Subscription<geometry_msgs::msg::Twist>::SharedPtr commands_;
  rclcpp::TimerBase::SharedPtr moving_;
  rclcpp::TimerBase::SharedPtr scanning_;
  rclcpp::TimerBase::SharedPtr planning_;
  rclcpp_action::Client<ComputePath>::SharedPtr planner_;
  rclcpp_action::Client<FollowPath>::SharedPtr follower_;
  geometry_msgs::msg::Twist command_;
  std::vector<std::int64_t> arrivals_ns_;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  double x_m_ = 0;
  double y_m_ = 0;
  double yaw_ = 0;
  long plans_ = 0;
  long failures_ = 0;
  long paths_ended_ = 0;
  int waited_ = 0;
  bool plan_is_under_way_ = false;
  bool follows_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const long seconds = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (seconds < 1 || seconds > 3600) {
    std::fprintf(stderr, "usage: simulated_robot SECONDS\n");
    return 2;
  }
  rclcpp::init(0, nullptr);
  int exit_code = 0;
  try {
    const auto robot = std::make_shared<SimulatedRobot>();
    robot->run(std::chrono::seconds(seconds));
    std::printf("%s\n", robot->results().dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulated_robot: %s\n", error.what());
    exit_code = 1;
  }
  rclcpp::shutdown();
  return exit_code;
}
