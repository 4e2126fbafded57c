// SPDX-License-Identifier: Apache-2.0
// The source of the chain.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/u_int32.hpp>

#include "monitored_chain.hpp"
#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt_robot::test {

/// Publishes /points and the injections until its end, on one thread that the chain does not delay:
/// not even by a lock of the middleware, which another thread would have to share.
class Sensor {
 public:
  Sensor()
      : node_(std::make_shared<rclcpp::Node>("sensor")),
        publisher_(node_->create_publisher<geometry_msgs::msg::PointStamped>("/points", 10)),
        inject_(node_->create_publisher<std_msgs::msg::UInt32>("/inject", 10)),
        thread_({.name = "sensor", .scheduling = scheduling()},
                [this](const rclrt::realtime::StopFlag& stop) { run(stop); }) {}

  /// Stops publishing.
  void stop() { thread_.stop(); }

  void inject(Injection what) { next_.store(what); }
  std::size_t listeners() const { return inject_->get_subscription_count(); }

 private:
  static rclrt::realtime::Scheduling scheduling() {
    constexpr int kPriority = 90;
    if (rclrt::realtime::why_no_realtime(kPriority)) {
      return {};
    }
    return {.policy = rclrt::realtime::Policy::kFifo, .priority = kPriority};
  }

  void run(const rclrt::realtime::StopFlag& stop) {
    const std::int64_t period_ns = std::chrono::nanoseconds(kSensorPeriod).count();
    std::int64_t next_ns = rclrt::realtime::monotonic_now_ns();
    while (!stop.wait_until(next_ns += period_ns)) {
      geometry_msgs::msg::PointStamped points;
      points.header.stamp = node_->now();
      publisher_->publish(points);
      if (const std::optional<Injection> what = next_.exchange(std::nullopt)) {
        std_msgs::msg::UInt32 number;
        number.data = *what;
        inject_->publish(number);
      }
    }
  }

  rclcpp::Node::SharedPtr node_;
  rclcpp::Publisher<geometry_msgs::msg::PointStamped>::SharedPtr publisher_;
  rclcpp::Publisher<std_msgs::msg::UInt32>::SharedPtr inject_;
  std::atomic<std::optional<Injection>> next_{std::nullopt};
  rclrt::realtime::Thread thread_;  // ends first
};

}  // namespace rclrt_robot::test
