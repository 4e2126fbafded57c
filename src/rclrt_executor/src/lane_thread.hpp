// SPDX-License-Identifier: Apache-2.0
// A thread that pops instances from a lane and runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dispatcher.hpp"
#include "lane.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::executor {

/// A thread that runs the instances of a lane. It ends when the spin stops; the destructor joins
/// it. The lane must outlive it, and forgets it afterwards.
class LaneThread {
 public:
  /// Starts it. `slot`: see InstanceRunner::Worker. `start_cpu`: the CPU on which it begins; it may
  /// run on its other CPUs, too. Only for a thread that starts before the executor takes work. -1:
  /// any. Throws std::system_error.
  RCLRT_SETUP LaneThread(const DispatcherContext& context, Lane& lane, LaneWorker::Kind kind,
                         const realtime::ThreadOptions& options, std::uint32_t slot,
                         bool may_be_raised = false, int start_cpu = -1);

  LaneWorker::Kind kind() const noexcept { return worker_.kind; }
  /// Sets it to the current SCHED_FIFO priority of its level. Throws std::system_error.
  RCLRT_SETUP void move_to(int kernel_priority) {
    worker_.priority.move_to(kernel_priority, thread_);
  }
  /// Waits for it to end. The lane's other threads may read its state until it is destroyed.
  void join() noexcept RCLRT_WAITS { thread_.join(); }

 private:
  LaneWorker worker_;
  realtime::Thread thread_;  // destroyed first
};

/// Returns how many instances of these callbacks may have started and not ended at the same time,
/// as far as their groups allow, but at most `limit`. The configuration must be locked.
std::size_t most_at_a_time(const std::vector<const Callback*>& callbacks, std::size_t limit);

}  // namespace rclrt::executor
