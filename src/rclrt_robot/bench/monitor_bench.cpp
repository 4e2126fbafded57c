// SPDX-License-Identifier: Apache-2.0
// The costs of deadlines and of a robot's monitor: the CPU time of the executor's thread for each
// message of a subscription, without a deadline, with one, under a monitor, and while another
// executor follows the messages without a header that its node publishes. The cases are run in
// turn.
//
//   rclrt_robot_monitor_bench [MESSAGES]
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <geometry_msgs/msg/point.hpp>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <thread>
#include <vector>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt_robot/robot.hpp"

namespace {

using geometry_msgs::msg::Point;
using geometry_msgs::msg::PointStamped;
using rclrt_rclcpp::Timing;
using namespace std::chrono_literals;

constexpr int kRounds = 15;

struct Case {
  const char* name;
  Timing timing;
  bool monitored;
  bool followed;
};

/// Asks for the origin of the data of "out".
class Follower {
 public:
  Follower() {
    robot_.executor().set_timing(subscription_, {.max_age = 1h});
    robot_.executor().add_node(node_);
    thread_ = std::thread([this] { robot_.spin(); });
  }
  ~Follower() {
    robot_.executor().cancel();
    thread_.join();
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  /// Publishes the first messages, long enough for the follower to find their publisher.
  static void wait_for(const std::function<void()>& publish) {
    for (int i = 0; i < 200; ++i) {
      publish();
      std::this_thread::sleep_for(10ms);
    }
  }

 private:
  rclrt_robot::Robot robot_{[] {
    rclrt_robot::RobotOptions options;
    options.monitor = rclrt_robot::MonitorOptions{};
    return options;
  }()};
  const rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>("follower");
  const rclcpp::Subscription<Point>::SharedPtr subscription_ =
      node_->create_subscription<Point>("out", 10, [](const Point&) {});
  std::thread thread_;
};

/// Returns the CPU time of the executor's thread from the start of a callback to the next start.
double cpu_per_message_us(const Case& which, long messages) {
  rclrt_robot::RobotOptions options;
  options.options.engine.cpus = {rclrt::realtime::allowed_cpus().back()};
  options.options.engine.workers_per_level = 1;
  if (which.monitored) {
    options.monitor = rclrt_robot::MonitorOptions{};
  }
  rclrt_robot::Robot robot(std::move(options));
  const auto node = std::make_shared<rclcpp::Node>("monitor_bench");
  std::atomic<long> received{0};
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  const auto subscription =
      node->create_subscription<PointStamped>("points", 10, [&](const PointStamped&) {
        const long number = received.load(std::memory_order_relaxed);
        if (number == 0) {
          begin_ns = rclrt::realtime::thread_cpu_now_ns();
        } else if (number == messages) {
          end_ns = rclrt::realtime::thread_cpu_now_ns();
        }
        received.store(number + 1, std::memory_order_release);
      });
  const auto publisher = node->create_publisher<PointStamped>("points", 10);
  robot.executor().set_timing(subscription, which.timing);
  robot.executor().add_node(node);
  std::thread spinning([&] { robot.spin(); });
  std::optional<Follower> follower;
  const auto out = node->create_publisher<Point>("out", 10);
  if (which.followed) {
    follower.emplace();
    Follower::wait_for([&out] { out->publish(Point()); });
  }
  PointStamped message;
  for (long i = 0; i <= messages; ++i) {
    message.header.stamp = node->now();
    publisher->publish(message);
    while (received.load(std::memory_order_acquire) <= i) {
      std::this_thread::yield();
    }
  }
  robot.executor().cancel();
  spinning.join();
  return static_cast<double>(end_ns - begin_ns) / static_cast<double>(messages) / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  const long messages = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 3000;
  if (messages < 1 || messages > 10'000'000) {
    std::fprintf(stderr, "usage: rclrt_robot_monitor_bench [MESSAGES]\n");
    return 2;
  }
  rclcpp::init(0, nullptr);
  const std::array<Case, 6> cases{{{"no deadline", {}, false, false},
                                   {"a deadline", {.deadline = 1h}, false, false},
                                   {"a deadline, monitored", {.deadline = 1h}, true, false},
                                   {"a deadline, and followed", {.deadline = 1h}, true, true},
                                   {"a largest age, monitored", {.max_age = 1h}, true, false},
                                   {"a largest age, and followed", {.max_age = 1h}, true, true}}};
  std::array<std::vector<double>, cases.size()> times_us;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      times_us[i].push_back(cpu_per_message_us(cases[i], messages));
    }
  }
  rclcpp::shutdown();
  std::printf("%-28s %10s %10s\n", "CPU us per message", "median", "beyond");
  double first_us = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::ranges::sort(times_us[i]);
    const double median_us = times_us[i][kRounds / 2];
    first_us = i == 0 ? median_us : first_us;
    std::printf("%-28s %10.2f %10.2f\n", cases[i].name, median_us, median_us - first_us);
  }
  return 0;
}
