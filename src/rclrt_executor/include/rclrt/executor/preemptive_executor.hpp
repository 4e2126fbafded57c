// SPDX-License-Identifier: Apache-2.0
// The default executor: a lane of SCHED_FIFO threads per level; the kernel preempts.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs callbacks by fixed priority; a more urgent callback preempts a less urgent one. Each level
/// (priority) has worker threads of its own: as many as can have work at the same time, and one for
/// each of up to four CPUs, or as many as `workers_per_level` states. So a less urgent level never
/// runs on a CPU while a more urgent one waits. The thread that announces work pushes it into the
/// queue of its level and wakes a worker there; there is no scheduler thread in between. If the
/// worker will preempt that thread and both are under SCHED_FIFO, it is one that sleeps on the same
/// CPU. No more workers are
/// woken than the level's groups let run at a time. The workers of a level sleep until the next
/// release of that level's timers.
///
/// Instances of one level run in order of release. With several workers for each level, two
/// instances of different callbacks of one level run at the same time on different CPUs; a callback
/// never overlaps with itself unless its group is reentrant.
///
/// While a callback waits for another one, a spare thread replaces its worker; see
/// ExecutorOptions::spare_workers. Without real-time scheduling all levels share one queue and its
/// workers; see Preemption.
class RCLRT_EXECUTOR_EXPORT PreemptiveExecutor final : public Executor {
 public:
  /// Creates no thread yet.
  RCLRT_SETUP explicit PreemptiveExecutor(ExecutorOptions options = {});
};

}  // namespace rclrt::executor
