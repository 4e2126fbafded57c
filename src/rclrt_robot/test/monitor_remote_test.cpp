// SPDX-License-Identifier: Apache-2.0
// Ages of data that another host stamps, as the monitor reports them.
#include <gmock/gmock.h>

#include <atomic>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <memory>
#include <rclrt_msgs/msg/clock_interval.hpp>
#include <string>
#include <thread>

#include "folder.hpp"
#include "monitor_fixture.hpp"
#include "rclrt/realtime/boot_number.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt_robot::test {
namespace {

using geometry_msgs::msg::PointStamped;
using rclrt_msgs::msg::ClockInterval;
using testing::HasSubstr;

constexpr const char* kName = "rclrt: /node subscription /points";

/// A robot with a subscription to data of a host that is 40 ms ahead. Its limit of ten seconds is
/// far from the ages here, because messages take their time on a busy machine.
class MonitorRemoteTest : public MonitorTest {
 protected:
  MonitorRemoteTest() : robot_(with_file()) {
    subscription_ =
        node_->create_subscription<PointStamped>("/points", 10, [](const PointStamped&) {});
    robot_.executor().add_node(node_);
  }

  RobotOptions with_file() {
    RobotOptions options = MonitorTest::options();
    options.options.priorities =
        folder_.write("robot.yaml",
                      "rclrt: 1\ncallbacks:\n  - {node: /node, subscription: /points, max_age_ms: "
                      "10000, stamped_by: right}\n");
    return options;
  }

  /// Publishes what `rclrt clock` of this host would.
  void report(std::int64_t before_ns, std::int64_t low_ns, std::int64_t high_ns) {
    ClockInterval message;
    message.host = "left";
    message.boot = rclrt::realtime::boot_number();
    message.peer = "right";
    const std::int64_t raw_ns = rclrt::realtime::read_clock_ns(CLOCK_MONOTONIC_RAW);
    const std::int64_t realtime_ns = rclrt::realtime::read_clock_ns(CLOCK_REALTIME);
    message.at_ns = raw_ns - before_ns;
    message.peer_sent_ns = realtime_ns - before_ns + 40'000'000;
    message.is_known = true;
    message.low_ns = realtime_ns - raw_ns + low_ns;
    message.high_ns = realtime_ns - raw_ns + high_ns;
    reports_->publish(message);
  }

  /// Publishes data of this age, stamped by the other host, and reports of its clock, until a
  /// status of the monitor has `key` above 0.
  DiagnosticStatus status_with(const std::string& key, std::chrono::nanoseconds age,
                               std::int64_t low_ns = 39'900'000, std::int64_t high_ns = 40'100'000,
                               bool has_reports = true) {
    DiagnosticStatus result;
    spin(robot_, [&] {
      if (has_reports) {
        report(3'600'000'000'000, low_ns, high_ns);  // known for an hour
        report(0, low_ns, high_ns);
      }
      PointStamped message;
      message.header.stamp = node_->now() - rclcpp::Duration(age) + rclcpp::Duration(40ms);
      points_->publish(message);
      for (const DiagnosticStatus& each : operator_.statuses(kName)) {
        if (const std::string count = value_of(each, key); !count.empty() && count != "0") {
          result = each;
          return true;
        }
      }
      return false;
    });
    return result;
  }

  const Folder folder_;
  Robot robot_;
  const std::shared_ptr<rclcpp::Node> node_ = std::make_shared<rclcpp::Node>("node");
  const std::shared_ptr<rclcpp::Node> other_ = std::make_shared<rclcpp::Node>("other");
  rclcpp::Subscription<PointStamped>::SharedPtr subscription_;
  const rclcpp::Publisher<PointStamped>::SharedPtr points_ =
      other_->create_publisher<PointStamped>("/points", 10);
  const rclcpp::Publisher<ClockInterval>::SharedPtr reports_ =
      other_->create_publisher<ClockInterval>("/rclrt/clock/intervals",
                                              rclcpp::QoS(1000).best_effort());
};

TEST_F(MonitorRemoteTest, AnAgeIsMetOnlyIfTheWholeIntervalIsWithinTheLimit) {
  const DiagnosticStatus status = status_with("met", 5ms);
  EXPECT_THAT(status.message, HasSubstr(" met, 0 missed, "));
  EXPECT_THAT(status.message, HasSubstr("; age p50 "));
  EXPECT_EQ(value_of(status, "missed"), "0");
  EXPECT_EQ(value_of(status, "limit_of"), "age");
  EXPECT_EQ(value_of(status, "stamped_by"), "right");
  EXPECT_NEAR(std::stod(value_of(status, "offset_low_ms")), 39.9, 1);
  // The stamps are 35 ms in the future of this host's clock.
  EXPECT_GE(std::stod(value_of(status, "p50_low_ms")), 4.9);
  EXPECT_NEAR(
      std::stod(value_of(status, "p50_high_ms")) - std::stod(value_of(status, "p50_low_ms")), 0.2,
      0.1);
}

TEST_F(MonitorRemoteTest, OldDataIsMissed) {
  const DiagnosticStatus status = status_with("missed", 20s);
  EXPECT_EQ(status.level, DiagnosticStatus::WARN);
  EXPECT_EQ(value_of(status, "met"), "0");
  EXPECT_GE(std::stod(value_of(status, "max_low_ms")), 19'999);
}

TEST_F(MonitorRemoteTest, AnAgeAroundTheLimitIsUnknown) {
  // Known to one hour on both sides.
  const DiagnosticStatus status =
      status_with("unknown", 5ms, -3'600'000'000'000, 3'600'000'000'000);
  EXPECT_EQ(status.level, DiagnosticStatus::WARN);
  EXPECT_EQ(value_of(status, "met"), "0");
  EXPECT_EQ(value_of(status, "missed"), "0");
}

TEST_F(MonitorRemoteTest, AStampFromTheFutureIsNamed) {
  const DiagnosticStatus status = status_with("future", -60s);
  EXPECT_THAT(status.message, HasSubstr("stamped in the future"));
  EXPECT_EQ(status.level, DiagnosticStatus::WARN);
  EXPECT_EQ(value_of(status, "met"), "0");
}

TEST_F(MonitorRemoteTest, WithoutTheClockNothingIsMetAndTheFixIsNamed) {
  const DiagnosticStatus status = status_with("unknown", 5ms, 0, 0, false);
  EXPECT_THAT(status.message, HasSubstr("no `rclrt clock` of this host is heard"));
  EXPECT_EQ(status.level, DiagnosticStatus::WARN);
  EXPECT_EQ(value_of(status, "met"), "0");
}

TEST_F(MonitorRemoteTest, TheHostIsWrittenWithThePriorities) {
  std::ostringstream written;
  robot_.executor().write_priorities(written);
  EXPECT_THAT(written.str(), HasSubstr("max_age_ms: 10000.000000, stamped_by: right}"));
}

TEST_F(MonitorRemoteTest, AHostWithoutAnAgeOrOfATimerIsRefused) {
  EXPECT_THROW(robot_.executor().set_timing(subscription_, {.stamped_by = "right"}),
               std::invalid_argument);
  EXPECT_THROW(robot_.executor().set_timing(subscription_, {.max_age = 1s, .stamped_by = ""}),
               std::invalid_argument);
  const auto timer = node_->create_wall_timer(1s, [] {});
  EXPECT_THROW(robot_.executor().set_timing(timer, {.max_age = 1s, .stamped_by = "right"}),
               std::invalid_argument);
}

}  // namespace
}  // namespace rclrt_robot::test
