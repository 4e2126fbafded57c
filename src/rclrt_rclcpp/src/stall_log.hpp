// SPDX-License-Identifier: Apache-2.0
// Logs stalls: instances that wait for threads that wait themselves.
#pragma once

#include <exception>
#include <rclcpp/rclcpp.hpp>

#include "rclrt/executor/options.hpp"
#include "rclrt/executor/stall.hpp"

namespace rclrt_rclcpp {

/// Writes each stall to the log: all threads that could run an instance wait, for example in a
/// service call within a callback. All executors of a process use one object.
class StallLog final : public rclrt::executor::StallHandler {
 public:
  static StallLog& instance() {
    static StallLog log;
    return log;
  }

  void stalled(const rclrt::executor::Stall& stall) noexcept override {
    try {
      RCLCPP_WARN(rclcpp::get_logger("rclrt_rclcpp"), "%s", explanation(stall).c_str());
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it must not end the robot
    }
  }
};

/// Returns the options with this handler, unless they have another one.
inline rclrt::executor::ExecutorOptions with_stall_log(rclrt::executor::ExecutorOptions options) {
  if (options.on_stall == nullptr) {
    options.on_stall = &StallLog::instance();
  }
  return options;
}

}  // namespace rclrt_rclcpp
