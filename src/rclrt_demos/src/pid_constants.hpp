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

/// The flaw of the exercise: while the control loop waits for the lock, the thread that holds it
/// may wait for the CPU behind unrelated threads (unbounded priority inversion).
using MutexConstants = LockedConstants<std::mutex>;

/// The fix of the exercise: while the control loop waits for the lock, the thread that holds it
/// inherits the control loop's priority. So the wait is only as long as the critical section, a
/// copy of three numbers.
using PiMutexConstants = LockedConstants<realtime::PiMutex>;

}  // namespace rclrt::demos
