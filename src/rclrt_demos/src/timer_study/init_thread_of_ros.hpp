// SPDX-License-Identifier: Apache-2.0
// A thread like the one of rclcpp::init: it waits for signals, and inherits its policy.
#pragma once

#include <thread>

#include "rclrt/realtime/stop_flag.hpp"

namespace rclrt::timer_study {

/// A thread that handles SIGINT and SIGTERM: the first one requests a stop, the second one ends the
/// process. It inherits the scheduling policy of the thread that makes it, like the thread that
/// rclcpp::init starts in the study. rclrt::Context would also start such a thread, but with a
/// policy of its own, so the study could not be repeated with it.
class InitThread {
 public:
  /// Blocks the signals for the calling thread and those that it starts from now on.
  static void block_signals();

  explicit InitThread(realtime::StopFlag& stop);
  ~InitThread();
  InitThread(const InitThread&) = delete;
  InitThread& operator=(const InitThread&) = delete;

 private:
  std::thread thread_;  // not realtime::Thread, which sets its policy
};

}  // namespace rclrt::timer_study
