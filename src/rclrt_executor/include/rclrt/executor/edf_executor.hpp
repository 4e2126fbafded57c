// SPDX-License-Identifier: Apache-2.0
// Earliest deadline first, preemptive, on one CPU.
#pragma once

#include "rclrt/executor/executor.hpp"
#include "rclrt/executor/export.hpp"

namespace rclrt::executor {

/// Runs the instance whose absolute deadline (its release + the callback's `deadline_ns`) is the
/// earliest; it preempts what runs with a later one. A timer without a deadline has its period for
/// one. Any other callback without a deadline runs in the background: after all that have one,
/// preempted by them, in order of release. Equal deadlines run in order of release and do not
/// preempt each other. Priorities (levels) decide nothing here; they are recorded.
///
/// EDF misses no deadline that any other order on one CPU could meet (Dertouzos 1974); callbacks
/// whose deadlines are their periods may load the CPU fully (Liu and Layland 1973). The analysis is
/// per CPU and so is the executor: it runs on one. Use one executor for each CPU.
///
/// Threads. What has started and not ended is a stack: an instance starts on top of others only by
/// preempting them. Worker i runs the instance that is i-th from the bottom, at the i-th SCHED_FIFO
/// priority from the bottom, so the kernel runs the top of the stack, which has the earliest
/// deadline of all that started, and no priority ever changes. The thread that announces work wakes
/// the worker above the top, and only if the instance may preempt: no scheduler thread stands
/// between, and what may not preempt costs no switch. That worker also sleeps until the next timer
/// release that may preempt.
///
/// Groups. An instance may start when its deadline is earlier than that of every one that started
/// and its relative deadline is shorter than the ceiling of each: the shortest relative deadline
/// among the members of its group. This is the stack resource policy (Baker 1991) with relative
/// deadlines as preemption levels and the callback as the critical section. So an instance waits
/// for at most one with a later deadline, once, before it starts; it never finds its group busy and
/// there is no deadlock. Nesting shortens the relative deadline each time: as many workers as there
/// are distinct relative deadlines are enough. They get the SCHED_FIFO priorities right below
/// `top_priority`; should there be more deadlines than priorities, an instance that would nest
/// deeper than those starts when the top of the stack has ended.
///
/// A callback that sleeps or waits keeps its place on the stack: what has a later deadline does not
/// start meanwhile, and to wait for such an instance is to wait for ever.
///
/// Without real time one worker runs them to completion, the earliest deadline next; see
/// Preemption. With Preemption::kAlways the order of starts is as above, but the kernel shares the
/// CPU among an instance and those that it preempted.
class RCLRT_EXECUTOR_EXPORT EdfExecutor final : public Executor {
 public:
  /// Makes an executor for one CPU. `options.cpus` has one CPU or none: the last one that the
  /// caller may use is taken then, and `options()` states it. Levels have no workers of their own:
  /// `workers_per_level` is ignored. Creates no thread yet. Throws std::invalid_argument for
  /// several CPUs.
  RCLRT_SETUP explicit EdfExecutor(ExecutorOptions options = {});

  /// Returns the CPU it runs on.
  int cpu() const noexcept RCLRT_NONBLOCKING { return options().cpus.front(); }
};

}  // namespace rclrt::executor
