// SPDX-License-Identifier: Apache-2.0
// An executor of rclcpp that spins in a thread of its own for as long as an object exists.
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
  /// Begins, and waits until the executor has run a first callback, a timer's of a node that this
  /// adds: what comes from then on does not wait for its set-up. The executor must outlive this.
  SpinThread(rclcpp::Executor& executor, const realtime::Scheduling& scheduling);
  ~SpinThread();
  SpinThread(const SpinThread&) = delete;
  SpinThread& operator=(const SpinThread&) = delete;

  /// Ends the spin. Throws what ended it before, as an exception of a callback.
  void stop();

 private:
  void spin() noexcept;
  void tell_begun() noexcept;

  rclcpp::Executor& executor_;
  std::atomic<bool> begun_{false};  // or it has failed before
  std::exception_ptr failure_;
  const rclcpp::Node::SharedPtr first_node_;
  rclcpp::TimerBase::SharedPtr first_timer_;
  realtime::Thread thread_;
};

}  // namespace rclrt::demos::on_rclcpp
