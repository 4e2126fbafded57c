// SPDX-License-Identifier: Apache-2.0
// The error that ended a spin.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>

namespace rclrt_rclcpp {

/// The latest error of the current spin. Thread-safe.
class SpinFailure {
 public:
  void set(const std::exception_ptr& error) {
    const std::scoped_lock lock(mutex_);
    error_ = error;
    failed_.store(true);
  }
  void clear() {
    const std::scoped_lock lock(mutex_);
    failed_.store(false);
    error_ = nullptr;
  }
  bool failed() const noexcept { return failed_.load(); }
  /// Throws the error; returns if there is none.
  void rethrow() {
    std::exception_ptr error;
    {
      const std::scoped_lock lock(mutex_);
      error = error_;
    }
    if (error) {
      std::rethrow_exception(error);
    }
  }

 private:
  std::mutex mutex_;  // guards error_; nothing else is taken inside it
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};  // true if there is one; read without the lock
};

}  // namespace rclrt_rclcpp
