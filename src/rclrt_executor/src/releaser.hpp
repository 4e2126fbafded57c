// SPDX-License-Identifier: Apache-2.0
// How urgent the calling thread is, for the choice of the worker that its release wakes.
#pragma once

#include "rclrt/realtime/safety.hpp"
#include "worker_priority.hpp"

namespace rclrt::executor {

/// Called by a thread of an executor that runs callbacks, before it takes work. `priority` is the
/// thread's, and must live as long as the thread releases instances.
void begin_releaser(const WorkerPriority& priority) noexcept RCLRT_NONBLOCKING;

/// Returns the SCHED_FIFO (or SCHED_RR) priority of the calling thread; 0: it has normal
/// scheduling; kAboveAll: SCHED_DEADLINE. The first call of a thread that did not call
/// `begin_releaser` reads the priority from the kernel, and later calls return that number. If such
/// a thread changes its priority afterwards, its releases may wake a less suitable worker.
int priority_of_releaser() noexcept RCLRT_NONBLOCKING;

inline constexpr int kAboveAll = 1000;

}  // namespace rclrt::executor
