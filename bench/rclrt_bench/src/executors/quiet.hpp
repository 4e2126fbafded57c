// SPDX-License-Identifier: Apache-2.0
// Keeps a virtual machine's host awake, and reads the CPU time that it takes.
#pragma once

#include <sys/types.h>

namespace rclrt::bench {

/// A SCHED_IDLE thread per CPU that never sleeps, so that no CPU becomes idle and the host does not
/// put it to sleep. All other threads preempt it at once. They are in a process of their own, so
/// their CPU time is not counted as ours. Create it before there are threads.
class Quiet {
 public:
  explicit Quiet(bool on);
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  pid_t process_ = 0;
};

/// Returns the CPU time that the host has taken from this machine since its start, in milliseconds.
double steal_ms();

}  // namespace rclrt::bench
