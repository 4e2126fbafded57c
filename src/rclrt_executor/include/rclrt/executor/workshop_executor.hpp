// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take the priority of what they run: the executor of a workshop.
#pragma once

#include <cstddef>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// How many threads a WorkshopExecutor has.
struct WorkshopOptions {
  /// Of all levels together, as in the workshop; 0: as many as can be of use, which is as many as
  /// all levels may keep, and one.
  std::size_t threads = 0;
};

/// Keeps more threads than there are CPUs. One that is idle has `top_priority`: it wakes up at once
/// when something becomes ready, takes on the priority of that level, and runs what waits there for
/// as long as something does; then it is idle again. The kernel decides among those that run. This
/// is the executor of "Real-time programming with ROS 2" (workshop of ROSCon 2023), but for three
/// defects of the original:
/// * The pool of the original may be too small: an urgent callback then waits until a less urgent
///   one has ended. Here a level keeps `workers_per_level` threads at most, by default one for each
///   CPU, so that one is always idle, unless WorkshopOptions say how many there are.
/// * A thread of the original takes a callback first and lowers its priority then. It then comes
///   before other threads of that priority, so that the last to become ready may run first. Here a
///   thread takes the first instance of a level when it runs at that level.
/// * A callback of the original that excludes more urgent ones may be preempted by what lies
///   between. Here it runs at the highest priority of its group, from when it starts.
///
/// Against `preemptive`, waking up interrupts what is more urgent, and each change of level costs
/// two system calls. Without real time the threads are as many as CPUs and take the most urgent
/// instance each; see Preemption.
class RCLRT_EXECUTOR_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit WorkshopExecutor(ExecutorOptions options = {},
                                        WorkshopOptions workshop = {});
};

}  // namespace rclrt::executor
