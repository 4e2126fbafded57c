// SPDX-License-Identifier: Apache-2.0
// Earliest deadline first, preemptive, on one CPU.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs the instance with the earliest absolute deadline (its release + the callback's
/// `deadline_ns`), and preempts instances with later deadlines. A timer without a deadline has its
/// period as its deadline. Any other callback without a deadline runs in the background, in order
/// of release: after all callbacks with a deadline, which preempt it. Instances with equal
/// deadlines run in order of release and do not preempt each other. Priorities (levels) are
/// recorded and otherwise ignored.
///
/// EDF misses no deadline that any other order on one CPU could meet (Dertouzos 1974). Callbacks
/// with deadlines equal to their periods may use all of the CPU time (Liu and Layland 1973). The
/// analysis holds for one CPU, so the executor runs on one. Use one executor for each CPU.
///
/// Threads: the instances that have started and not ended form a stack, because an instance starts
/// on top of others only by preempting them. Worker i runs the i-th instance from the bottom, at
/// the i-th SCHED_FIFO priority from the bottom. So the kernel runs the top of the stack, which has
/// the earliest deadline of all started instances, and no thread ever changes its priority. A
/// thread that announces work wakes the worker above the top, and only if the new instance may
/// preempt. There is no scheduler thread in between, and an instance that may not preempt costs no
/// context switch. The worker above the top also wakes up at the next timer release that may
/// preempt.
///
/// Groups: an instance may start if its deadline is earlier than that of every started instance,
/// and its relative deadline is shorter than the ceiling of each of them. The ceiling of an
/// instance is the shortest relative deadline among the members of its group. This is the stack
/// resource policy (Baker 1991), with relative deadlines as preemption levels and the callback as
/// the critical section. So an instance waits for at most one instance with a later deadline, once,
/// before it starts. It never finds its group busy, and there is no deadlock. Each instance on the
/// stack has a shorter relative deadline than the one below it, so as many workers as there are
/// distinct relative deadlines are enough. They get the SCHED_FIFO priorities right below
/// `top_priority`. If there are more relative deadlines than priorities, an instance for which
/// there is no worker starts when the top of the stack has ended.
///
/// A callback that sleeps or waits keeps its place on the stack. Instances with later deadlines do
/// not start meanwhile, so a callback that waits for one of them waits for ever.
///
/// Without real-time scheduling one worker runs the instances to completion, the earliest deadline
/// first; see Preemption. With Preemption::kAlways instances start in the order described above,
/// but the kernel shares the CPU among an instance and those that it preempted.
class RCLRT_EXECUTOR_EXPORT EdfExecutor final : public Executor {
 public:
  /// Makes an executor for one CPU. `options.cpus` must have one CPU or be empty. If it is empty,
  /// the executor uses the last CPU that the caller may use, and `options()` then contains that
  /// CPU. `workers_per_level` is ignored, because the threads do not belong to levels. Creates no
  /// thread yet. Throws std::invalid_argument for several CPUs.
  RCLRT_SETUP explicit EdfExecutor(ExecutorOptions options = {});

  /// Returns the CPU it runs on.
  int cpu() const noexcept RCLRT_NONBLOCKING { return options().cpus.front(); }
};

}  // namespace rclrt::executor
