// SPDX-License-Identifier: Apache-2.0
// Exercise 2-2, both ways: three numbers that belong together, so that one atomic cannot hold them.
#pragma once

#include <mutex>

#include "exercise/shared_data.hpp"
#include "rclrt/realtime/mutex.hpp"

namespace rclrt::demos {

/// The constants under a lock. The kind of the lock is the whole difference.
template <typename Mutex>
class LockedConstants final : public SharedPidConstants {
 public:
  void set(const PidConstants& constants) noexcept override {
    const std::scoped_lock lock(mutex_);
    constants_ = constants;
  }
  PidConstants get() noexcept override {
    const std::scoped_lock lock(mutex_);
    return constants_;
  }

 private:
  Mutex mutex_;
  PidConstants constants_;
};

/// The flaw: while the control loop waits for the lock, its holder waits for the CPU, behind
/// threads that have nothing to do with either (unbounded priority inversion).
using MutexConstants = LockedConstants<std::mutex>;

/// The fix: while the control loop waits, the holder has the control loop's priority. The wait is
/// as long as the critical section, a copy of three numbers.
using PiMutexConstants = LockedConstants<realtime::PiMutex>;

}  // namespace rclrt::demos
