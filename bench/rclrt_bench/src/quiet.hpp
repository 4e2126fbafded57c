// SPDX-License-Identifier: Apache-2.0
// Keeping a virtual machine's host awake, and seeing what it takes.
#pragma once

#include <sys/types.h>

namespace rclrt::bench {

/// A SCHED_IDLE thread per CPU that never sleeps, so that no CPU goes idle and the host has no
/// reason to put it to sleep. Anything else preempts it at once. A process of its own: its CPU time
/// is not ours. Make it before there are threads.
class Quiet {
 public:
  explicit Quiet(bool on);
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  pid_t process_ = 0;
};

/// CPU time the host has taken from this machine since it started, in milliseconds.
double steal_ms();

}  // namespace rclrt::bench
