// SPDX-License-Identifier: Apache-2.0
// An executor of rclcpp that spins in a thread of its own for as long as an object exists.
#pragma once

#include <atomic>
#include <exception>
#include <rclcpp/executor.hpp>

#include "rclrt/realtime/scheduling.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::demos::on_rclcpp {

/// Spins from construction to `stop`.
class SpinThread {
 public:
  /// Begins; the executor must outlive this.
  SpinThread(rclcpp::Executor& executor, const realtime::Scheduling& scheduling);
  ~SpinThread();
  SpinThread(const SpinThread&) = delete;
  SpinThread& operator=(const SpinThread&) = delete;

  /// Ends the spin. Throws what ended it before, as an exception of a callback.
  void stop();

 private:
  void join() noexcept;

  rclcpp::Executor& executor_;
  std::exception_ptr failure_;
  std::atomic<bool> ended_{false};
  realtime::Thread thread_;
};

}  // namespace rclrt::demos::on_rclcpp
