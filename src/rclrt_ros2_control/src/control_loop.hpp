// SPDX-License-Identifier: Apache-2.0
// One cycle of ros2_control: what ros2_control_node's thread does between two sleeps.
#pragma once

#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <utility>

namespace rclrt_ros2_control {

/// The cycles of a controller manager as a timer's callback, in a group of its own: nothing of the
/// manager excludes it. The timer skips the releases that it is late for, and follows /clock under
/// use_sim_time. The cycles are those of an executor that has the manager's node.
class ControlLoop {
 public:
  /// Makes the timer; the manager is not nullptr.
  explicit ControlLoop(std::shared_ptr<controller_manager::ControllerManager> manager)
      : manager_(std::move(manager)),
        period_(std::chrono::nanoseconds(1'000'000'000 / manager_->get_update_rate())),
        group_(manager_->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive)) {
    const auto step = [this] { this->step(); };
    if (manager_->get_parameter_or("use_sim_time", false)) {
      timer_ = manager_->create_timer(period_, step, group_);
    } else {
      timer_ = manager_->create_wall_timer(period_, step, group_);
    }
  }
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;

  /// Returns the time between two cycles, by the manager's update rate.
  std::chrono::nanoseconds period() const { return period_; }
  /// Returns the timer, for its priority.
  const rclcpp::TimerBase::SharedPtr& timer() const { return timer_; }

 private:
  /// Reads the hardware, updates the controllers, writes. Each gets the time since the last cycle,
  /// in the first one the nominal period.
  void step() {
    const rclcpp::Time now = manager_->get_trigger_clock()->now();
    const rclcpp::Duration since_last = last_ ? now - *last_ : rclcpp::Duration(period_);
    last_ = now;
    manager_->read(now, since_last);
    manager_->update(manager_->get_trigger_clock()->now(), since_last);
    manager_->write(manager_->get_trigger_clock()->now(), since_last);
  }

  const std::shared_ptr<controller_manager::ControllerManager> manager_;
  const std::chrono::nanoseconds period_;
  const rclcpp::CallbackGroup::SharedPtr group_;  // the node keeps none
  rclcpp::TimerBase::SharedPtr timer_;
  std::optional<rclcpp::Time> last_;
};

}  // namespace rclrt_ros2_control
