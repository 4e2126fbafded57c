// SPDX-License-Identifier: Apache-2.0
// A robot with a monitor, and an operator that receives its reports.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "listener.hpp"
#include "rclcpp_fixture.hpp"
#include "rclrt_robot/robot.hpp"

namespace rclrt_robot::test {

using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;

inline std::string value_of(const DiagnosticStatus& status, const std::string& key) {
  const auto found = std::find_if(status.values.begin(), status.values.end(),
                                  [&](const auto& each) { return each.key == key; });
  return found == status.values.end() ? "" : found->value;
}

/// Keeps the calling thread's CPU busy for `time`.
inline void burn(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// The monitor's reports, as an operator's tool receives them.
class Operator {
 public:
  std::vector<DiagnosticStatus> statuses(const std::string& name) {
    std::vector<DiagnosticStatus> result;
    for (const DiagnosticArray& message : listener_.messages()) {
      std::copy_if(message.status.begin(), message.status.end(), std::back_inserter(result),
                   [&](const DiagnosticStatus& each) { return each.name == name; });
    }
    return result;
  }

 private:
  Listener<DiagnosticArray> listener_{"/diagnostics"};
};

class MonitorTest : public Ros {
 protected:
  /// Returns options for one CPU; the callbacks share a group, so one delays the other.
  static RobotOptions options() {
    RobotOptions options;
    options.options = on_one_cpu();
    options.monitor = MonitorOptions{.period = 50ms};
    return options;
  }

  /// Spins until `until` holds, and once more for the last message.
  static void spin(
      Robot& robot, const std::function<bool()>& until,
      const std::function<void()>& at_end = [] {}) {
    std::thread spinning([&] { robot.spin(); });
    EXPECT_TRUE(eventually(until));
    at_end();
    robot.executor().cancel();
    spinning.join();
  }

  static std::string process_name() {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return std::string("rclrt: process ") + host.data() + " " + std::to_string(getpid());
  }

  Operator operator_;
};

}  // namespace rclrt_robot::test
