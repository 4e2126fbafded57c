// SPDX-License-Identifier: Apache-2.0
// A pool of threads that take the priority of what they run: the executor of a workshop.
#pragma once

#include <cstddef>

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// How many threads a WorkshopExecutor has.
struct WorkshopOptions {
  /// Of all levels together, as in the workshop; 0: as many as can be of use.
  std::size_t threads = 0;
};

/// Keeps more threads than there are CPUs. One that is idle has `top_priority`, so it takes what
/// becomes ready at once, whatever runs; then it takes on the priority of that callback, the
/// highest in its group, for as long as it runs it. The kernel decides among those that run. It is
/// the executor of "Real-time programming with ROS 2" (workshop of ROSCon 2023), without what goes
/// wrong there:
/// * When all threads are busy with less urgent callbacks, an urgent one waits for one to end. Here
///   there are as many threads as groups, for each CPU one more, and for each CPU and reentrant
///   group another one; unless WorkshopOptions state how many.
/// * A thread that lowers its priority comes before those that have the new one already, so that
///   the last to become ready would run first. Here it goes behind them.
/// * A callback that waits for a group waits as long as more urgent callbacks keep who is inside
///   from running. Here who is inside has the group's highest priority.
///
/// Against `preemptive` each instance costs two changes of priority and interrupts what is more
/// urgent for as long as it takes to be picked up. Without real time the threads are as many as
/// CPUs and take the most urgent instance each; see Preemption. `workers_per_level` counts there
/// alone.
class RCLRT_EXECUTOR_EXPORT WorkshopExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit WorkshopExecutor(ExecutorOptions options = {},
                                        WorkshopOptions workshop = {});
};

}  // namespace rclrt::executor
