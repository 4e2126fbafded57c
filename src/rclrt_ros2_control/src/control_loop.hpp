// SPDX-License-Identifier: Apache-2.0
// One cycle of ros2_control: the work of ros2_control_node's thread between two sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <controller_manager/controller_manager.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <rclcpp/rclcpp.hpp>
#include <thread>
#include <utility>

namespace rclrt_ros2_control {

/// Runs the cycles of a controller manager in a timer's callback. The callback is in a group of its
/// own, for two reasons. No callback of the manager excludes it. And it stays in the executor when
/// the manager's node is removed, because the removal waits for services that wait for a cycle. The
/// timer skips the releases for which it is late, and follows /clock under use_sim_time.
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

  /// Adds the cycles to an executor that has the manager's node, or will get it.
  void add_to(rclcpp::Executor& executor) const {
    executor.add_callback_group(group_, manager_->get_node_base_interface());
  }

  /// Returns how many cycles have ended. Thread-safe.
  std::uint64_t cycles() const { return cycles_.load(std::memory_order_acquire); }

  /// Waits until `cycles` cycles have ended, at most until `until`. Returns whether they have
  /// ended. On the thread that runs a cycle it returns false at once, because that thread cannot
  /// wait for another cycle. Thread-safe.
  bool wait_for(std::uint64_t cycles, std::chrono::steady_clock::time_point until) const {
    if (runner_.load() == std::this_thread::get_id()) {
      return false;
    }
    while (this->cycles() < cycles) {
      if (std::chrono::steady_clock::now() > until) {
        return false;
      }
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(period_, kPoll));
    }
    return true;
  }

  /// Runs the cycles on the calling thread until the context is shut down. Call it after the
  /// executor has ended, and while the context is valid: the manager ends the executor before the
  /// hardware. Releases for which the thread is late are skipped.
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
  static constexpr std::chrono::milliseconds kPoll{10};

  /// Runs one cycle: reads the hardware, updates the controllers and writes the hardware. Each of
  /// the three gets the time since the last cycle; in the first cycle, the nominal period.
  void step() {
    runner_ = std::this_thread::get_id();
    const rclcpp::Time now = manager_->get_trigger_clock()->now();
    const rclcpp::Duration since_last = last_ ? now - *last_ : rclcpp::Duration(period_);
    last_ = now;
    manager_->read(now, since_last);
    manager_->update(manager_->get_trigger_clock()->now(), since_last);
    manager_->write(manager_->get_trigger_clock()->now(), since_last);
    runner_ = std::thread::id();
    cycles_.fetch_add(1, std::memory_order_release);  // PAIRS WITH: cycles(): the write is visible
  }

  const std::shared_ptr<controller_manager::ControllerManager> manager_;
  const std::chrono::nanoseconds period_;
  const rclcpp::CallbackGroup::SharedPtr group_;  // the node holds it only weakly
  rclcpp::TimerBase::SharedPtr timer_;
  std::optional<rclcpp::Time> last_;
  std::atomic<std::uint64_t> cycles_{0};   // that have ended
  std::atomic<std::thread::id> runner_{};  // of a cycle; it publishes no other data
};

}  // namespace rclrt_ros2_control
