// SPDX-License-Identifier: Apache-2.0
// An executor that spins in a thread of its own for as long as an object exists.
#pragma once

#include <rclrt/executors.hpp>
#include <rclrt/realtime/thread.hpp>

namespace rclrt::demos {

/// Spins from construction to destruction, also if an exception leaves the scope.
class SpinThread {
 public:
  /// Prepares the executor and starts to spin it in a thread. The executor must outlive this
  /// object. Throws as Executor::prepare does.
  explicit SpinThread(Executor& executor) : executor_(executor) {
    executor_.prepare();
    thread_ = realtime::Thread({.name = "spin"}, [this] { executor_.spin(); });
  }
  ~SpinThread() {
    executor_.cancel();
    thread_.join();
  }
  SpinThread(const SpinThread&) = delete;
  SpinThread& operator=(const SpinThread&) = delete;

 private:
  Executor& executor_;
  realtime::Thread thread_;
};

}  // namespace rclrt::demos
