// SPDX-License-Identifier: Apache-2.0
// Exercise 2-3, both ways: a queue from the control loop to the ROS node. To take a sample takes
// 200 us, as it would if a large object were copied.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <queue>

#include "exercise/session.hpp"
#include "exercise/shared_data.hpp"
#include "rclrt/realtime/spsc_queue.hpp"

namespace rclrt::demos {

/// The cost of `pop`.
inline constexpr std::chrono::microseconds kPopCost{200};

/// The flaw of the exercise: the node holds the lock during all of `pop` (kPopCost), and longer if
/// it shares the CPU. (Besides, std::queue allocates memory from time to time.)
class LockedQueue final : public SampleQueue {
 public:
  bool push(const Sample& sample) noexcept override {
    const std::scoped_lock lock(mutex_);
    samples_.push(sample);
    return true;
  }
  bool pop(Sample& sample) noexcept override {
    const std::scoped_lock lock(mutex_);
    if (samples_.empty()) {
      return false;
    }
    compute(kPopCost);
    sample = samples_.front();
    samples_.pop();
    return true;
  }

 private:
  std::mutex mutex_;
  std::queue<Sample> samples_;
};

/// The fix of the exercise: a queue with one producer and one consumer needs no lock. `pop` takes
/// as long as before, but no thread waits for it. If the consumer falls behind by 8192 samples, the
/// newest ones are lost.
class LockFreeQueue final : public SampleQueue {
 public:
  /// Makes the queue; the other exercises use one without the cost.
  explicit LockFreeQueue(std::chrono::nanoseconds pop_cost = kPopCost) : pop_cost_(pop_cost) {}

  bool push(const Sample& sample) noexcept override { return samples_.try_push(sample); }
  bool pop(Sample& sample) noexcept override {
    const Sample* const oldest = samples_.front();
    if (oldest == nullptr) {
      return false;
    }
    compute(pop_cost_);
    sample = *oldest;
    samples_.pop();
    return true;
  }

 private:
  static constexpr std::size_t kCapacity = 8192;
  const std::chrono::nanoseconds pop_cost_;
  realtime::SpscQueue<Sample> samples_{kCapacity};
};

}  // namespace rclrt::demos
