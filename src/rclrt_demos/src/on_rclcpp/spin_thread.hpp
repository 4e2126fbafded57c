// SPDX-License-Identifier: Apache-2.0
// An executor of rclcpp that spins in its own thread while an object exists.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::demos::on_rclcpp {

/// Spins until `stop`.
class SpinThread {
 public:
  /// Spins the executor in a thread. Adds a node with a timer, and returns when the executor has
  /// run this timer's callback: later callbacks are then not delayed by the executor's set-up. The
  /// executor must outlive this object.
  SpinThread(rclcpp::Executor& executor, const realtime::Scheduling& scheduling);
  ~SpinThread();
  SpinThread(const SpinThread&) = delete;
  SpinThread& operator=(const SpinThread&) = delete;

  /// Ends the spin. Throws the exception that ended it before, such as one of a callback.
  void stop();

 private:
  void spin() noexcept;
  void tell_begun() noexcept;

  rclcpp::Executor& executor_;
  std::atomic<bool> begun_{false};  // or it has failed
  std::exception_ptr failure_;
  const rclcpp::Node::SharedPtr first_node_;
  rclcpp::TimerBase::SharedPtr first_timer_;
  realtime::Thread thread_;
};

}  // namespace rclrt::demos::on_rclcpp
