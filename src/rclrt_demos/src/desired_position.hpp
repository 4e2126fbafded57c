// SPDX-License-Identifier: Apache-2.0
// Exercise 2-1, both ways: one number, set by a thread without a deadline.
#pragma once

#include <atomic>
#include <mutex>

#include "exercise/shared_data.hpp"

namespace rclrt::demos {

/// The flaw of the exercise: the thread that sets the position may lose the CPU while it holds the
/// lock. First the control loop preempts it and waits for the lock; then any other thread of the
/// machine may run before it.
class MutexPosition final : public DesiredPosition {
 public:
  void set(double position) noexcept override {
    const std::scoped_lock lock(mutex_);
    position_ = position;
  }
  double get() noexcept override {
    const std::scoped_lock lock(mutex_);
    return position_;
  }

 private:
  std::mutex mutex_;
  double position_ = 0;
};

/// An atomic that is not lock-free contains a lock, and so has the flaw.
template <typename T>
class LockFree {
 public:
  static_assert(std::atomic<T>::is_always_lock_free,
                "std::atomic of this type takes a lock; share the value in another way");

  // Relaxed: a reader needs the latest value, and no other data with it.
  void store(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  T load() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

/// The fix: no thread ever waits.
class AtomicPosition final : public DesiredPosition {
 public:
  void set(double position) noexcept override { position_.store(position); }
  double get() noexcept override { return position_.load(); }

 private:
  LockFree<double> position_;
};

}  // namespace rclrt::demos
