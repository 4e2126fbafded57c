// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take the priority of what they run: the executor of a workshop.
#pragma once

#include <cstddef>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// How many threads a WorkshopExecutor has.
struct WorkshopOptions {
  /// The number of threads of all levels together. 0: as many as can be used, which is the sum of
  /// the threads that each level may keep, plus one.
  std::size_t threads = 0;
};

/// Runs callbacks on a pool with more threads than there are CPUs. An idle thread has
/// `top_priority`, so it wakes up at once when an instance becomes ready. It takes the priority of
/// the instance's level, and runs instances of that level until none is left. Then it is idle
/// again. The kernel schedules the running threads. This is the executor of "Real-time programming
/// with ROS 2" (workshop of ROSCon 2023), without three defects of the original:
/// * The pool of the original may be too small: an urgent callback then waits until a less urgent
///   one has ended. Here a level keeps at most `workers_per_level` threads, by default one for each
///   CPU, so that one is always idle, unless WorkshopOptions state the number of threads.
/// * A thread of the original first takes a callback and then lowers its priority. The kernel puts
///   a lowered thread before other threads of its new priority, so the last instance to become
///   ready may run first. Here a thread changes its priority first, and then takes the first
///   instance of the level.
/// * In the original, a callback that excludes more urgent ones may be preempted by callbacks with
///   priorities between the two. Here it runs at the highest priority of its group from its start.
///
/// Compared with `preemptive`, each wake-up of a thread preempts more urgent callbacks, and each
/// change of level costs two system calls. Without real-time scheduling there is one thread for
/// each CPU, and each takes the most urgent instance; see Preemption.
class RCLRT_EXECUTOR_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit WorkshopExecutor(ExecutorOptions options = {},
                                        WorkshopOptions workshop = {});
};

}  // namespace rclrt::executor
