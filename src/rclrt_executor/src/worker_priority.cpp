// SPDX-License-Identifier: Apache-2.0
#include "worker_priority.hpp"

#include <sched.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rclrt::executor {

void WorkerPriority::set(int priority) noexcept RCLRT_WAITS {
  sched_param parameters{};
  parameters.sched_priority = priority;
  const int policy = priority == 0 ? SCHED_OTHER : SCHED_FIFO;
  if (sched_setscheduler(0, policy, &parameters) != 0) {
    std::fprintf(stderr, "rclrt: setting SCHED_FIFO priority %d of a worker: %s\n", priority,
                 std::strerror(errno));
    std::abort();
  }
  now_ = priority;
}

void WorkerPriority::yield() noexcept RCLRT_WAITS { sched_yield(); }

}  // namespace rclrt::executor
