// SPDX-License-Identifier: Apache-2.0
// One cycle of ros2_control: what ros2_control_node's thread does between two sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <controller_manager_msgs/srv/switch_controller.hpp>
#include <cstdint>
#include <lifecycle_msgs/msg/state.hpp>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rclrt_ros2_control {

/// The cycles of a controller manager as a timer's callback, in a group of its own: nothing of the
/// manager excludes it, and it stays in an executor that the manager's node is taken from, as that
/// waits for services which wait for a cycle. The timer skips the releases that it is late for, and
/// follows /clock under use_sim_time.
class ControlLoop {
 public:
  /// Makes the timer; the manager is not nullptr.
  explicit ControlLoop(std::shared_ptr<controller_manager::ControllerManager> manager)
      : manager_(std::move(manager)),
        period_(std::chrono::nanoseconds(1'000'000'000 / manager_->get_update_rate())),
        group_(
            manager_->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false)) {
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

  /// Adds the cycles to an executor that has the manager's node, or gets it.
  void add_to(rclcpp::Executor& executor) const {
    executor.add_callback_group(group_, manager_->get_node_base_interface());
  }

  /// Deactivates the controllers while the cycles go on, and waits until what they then command, to
  /// stop, has been written. Gives up after `at_most` for each of the two. Any thread but theirs.
  void halt(std::chrono::seconds at_most) const {
    std::vector<std::string> active;
    for (const auto& controller : manager_->get_loaded_controllers()) {
      if (controller.c->get_lifecycle_id() == lifecycle_msgs::msg::State::PRIMARY_STATE_ACTIVE) {
        active.push_back(controller.info.name);
      }
    }
    if (active.empty()) {
      return;
    }
    manager_->switch_controller(
        {}, active, controller_manager_msgs::srv::SwitchController::Request::BEST_EFFORT, false,
        rclcpp::Duration(at_most));
    // The cycle that has deactivated them may be under way.
    const std::uint64_t enough = cycles_.load(std::memory_order_acquire) + 2;
    const auto until = std::chrono::steady_clock::now() + at_most;
    while (cycles_.load(std::memory_order_acquire) < enough &&
           std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(period_);
    }
  }

  /// Runs the cycles on the calling thread, when the executor has ended and as long as the context
  /// is valid: the manager ends the executor before it ends the hardware. Releases that it is late
  /// for are skipped.
  void run_until_shutdown() {
    auto release = std::chrono::steady_clock::now();
    while (rclcpp::ok()) {
      step();
      const auto now = std::chrono::steady_clock::now();
      release += ((now - release) / period_ + 1) * period_;
      std::this_thread::sleep_until(release);
    }
  }

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
    cycles_.fetch_add(1, std::memory_order_release);  // so that who sees it sees what was written
  }

  const std::shared_ptr<controller_manager::ControllerManager> manager_;
  const std::chrono::nanoseconds period_;
  const rclcpp::CallbackGroup::SharedPtr group_;  // the node keeps none
  rclcpp::TimerBase::SharedPtr timer_;
  std::optional<rclcpp::Time> last_;
  std::atomic<std::uint64_t> cycles_{0};  // that have ended
};

}  // namespace rclrt_ros2_control
