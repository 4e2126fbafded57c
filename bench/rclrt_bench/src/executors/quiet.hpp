// SPDX-License-Identifier: Apache-2.0
// Keeps a virtual machine's host awake, and reads the CPU time that it takes.
#pragma once

#include <sys/types.h>

namespace rclrt::bench {

/// Keeps a virtual machine awake: runs a SCHED_IDLE thread per CPU that never sleeps, so that no
/// CPU becomes idle and the host does not deschedule it. All other threads preempt these threads at
/// once. They belong to a process of their own, so their CPU time does not count as this process's.
/// Create it before any thread is started.
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
