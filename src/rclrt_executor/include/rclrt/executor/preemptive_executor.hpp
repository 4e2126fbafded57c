// SPDX-License-Identifier: Apache-2.0
// The default executor: a lane of SCHED_FIFO threads per level; the kernel preempts.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// The thread that announces work pushes it into the lane of its level and wakes a worker there;
/// there is no scheduler thread in between. Each level has as many workers as the executor has CPUs
/// (`workers_per_level`), so a less urgent level never runs on a CPU while a more urgent one waits.
/// Workers of a level sleep on that level's own timers.
///
/// Same level: in order of release. With several workers per level, two instances of different
/// callbacks of one level run at the same time on different CPUs; a callback never overlaps with
/// itself unless its group is reentrant.
///
/// While a callback waits for another one, a spare thread replaces its worker; see
/// ExecutorOptions::spare_workers.
///
/// Without real time all levels share one lane and its workers; see Preemption.
class RCLRT_EXECUTOR_EXPORT PreemptiveExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit PreemptiveExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
