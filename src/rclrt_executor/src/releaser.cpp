// SPDX-License-Identifier: Apache-2.0
#include "releaser.hpp"

#include <sched.h>

namespace rclrt::executor {

namespace {

struct Releaser {
  static constexpr int kUnread = -1;
  const WorkerPriority* own = nullptr;  // of a thread that may be raised
  int read = kUnread;
};
thread_local constinit Releaser t_releaser;

Releaser& releaser() noexcept RCLRT_NONBLOCKING {
  return RCLRT_TRUST("a constant-initialised variable of the thread", (t_releaser));
}

int priority_in_kernel() noexcept RCLRT_NONBLOCKING {
  const int policy = RCLRT_TRUST("it only reads", sched_getscheduler(0));
  switch (policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_FIFO:
    case SCHED_RR: {
      sched_param parameters{};
      RCLRT_TRUST("it only reads", sched_getparam(0, &parameters));
      return parameters.sched_priority;
    }
    case SCHED_DEADLINE:
      return kAboveAll;
    default:
      return 0;
  }
}

}  // namespace

void begin_releaser(const WorkerPriority& priority) noexcept RCLRT_NONBLOCKING {
  // A thread with a reservation has no priority of its own, and none is known of it here.
  const int read = priority_in_kernel();
  releaser() = {.own = read == kAboveAll ? nullptr : &priority, .read = read};
}

[[gnu::hot]] int priority_of_releaser() noexcept RCLRT_NONBLOCKING {
  Releaser& self = releaser();
  if (self.own != nullptr) {
    return self.own->now();
  }
  if (self.read == Releaser::kUnread) {
    self.read = priority_in_kernel();
  }
  return self.read;
}

}  // namespace rclrt::executor
