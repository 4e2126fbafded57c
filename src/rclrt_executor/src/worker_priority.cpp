// SPDX-License-Identifier: Apache-2.0
#include "worker_priority.hpp"

#include <sched.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rclrt::executor {

void WorkerPriority::raise(int ceiling) noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  if (ceiling > own_.load()) {
    is_raised_ = true;
    set(ceiling);
  }
}

void WorkerPriority::lower() noexcept RCLRT_WAITS {
  const std::scoped_lock lock(mutex_);
  is_raised_ = false;
  if (const int own = own_.load(); now() != own) {
    set(own);
  }
}

void WorkerPriority::adopt(int own) noexcept RCLRT_WAITS {
  const int before = now();
  if (before == own && own_.load() == own) {
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    own_.store(own);
    is_raised_ = false;
    set(own);
  }
  if (own < before) {
    sched_yield();
  }
}

void WorkerPriority::move_to(int own, realtime::Thread& thread) {
  const std::scoped_lock lock(mutex_);
  own_.store(own);
  if (!is_raised_ && now() != own) {
    thread.set_priority(own == 0 ? realtime::Policy::kOther : realtime::Policy::kFifo, own);
    now_.store(own, std::memory_order_relaxed);  // the mutex orders the changes
  }
}

void WorkerPriority::set(int priority) noexcept RCLRT_WAITS {
  sched_param parameters{};
  parameters.sched_priority = priority;
  const int policy = priority == 0 ? SCHED_OTHER : SCHED_FIFO;
  if (sched_setscheduler(0, policy, &parameters) != 0) {
    std::fprintf(stderr, "rclrt: setting SCHED_FIFO priority %d of a worker: %s\n", priority,
                 std::strerror(errno));
    std::abort();
  }
  now_.store(priority, std::memory_order_relaxed);  // as in move_to()
}

}  // namespace rclrt::executor
