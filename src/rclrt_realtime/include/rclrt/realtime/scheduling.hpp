// SPDX-License-Identifier: Apache-2.0
// Scheduling policies, what this process may use of them, and what a thread really has.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

enum class Policy { kOther, kFifo, kRoundRobin };

/// "SCHED_OTHER", "SCHED_FIFO" or "SCHED_RR".
const char* to_string(Policy policy) noexcept;

/// How a thread is scheduled. `priority` is 1..99 for FIFO and RR (higher is more urgent) and 0
/// for OTHER. Empty `cpus`: every CPU the process may use.
struct Scheduling {
  Policy policy = Policy::kOther;
  int priority = 0;
  std::vector<int> cpus;

  bool operator==(const Scheduling&) const = default;
};

/// Nothing when a thread of this process can run under SCHED_FIFO at `priority`; otherwise the
/// cause and its fix in one sentence. Asks the kernel by starting a short-lived thread. Builds with
/// AddressSanitizer or ThreadSanitizer always have a reason not to.
RCLRT_SETUP std::optional<std::string> why_no_realtime(int priority);

/// The CPUs this process may run on, ascending. Throws std::system_error.
RCLRT_SETUP std::vector<int> allowed_cpus();

/// Throws std::invalid_argument naming the first CPU of `cpus` that this process may not use and
/// those it may.
RCLRT_SETUP void require_allowed_cpus(const std::vector<int>& cpus);

/// Gives thread `tid` of this process (0: the caller) what `scheduling` states.
/// Throws std::system_error or std::invalid_argument with cause and fix.
RCLRT_SETUP void apply_scheduling(pid_t tid, const Scheduling& scheduling);

/// What the kernel says thread `tid` of this process has now; nothing when it has ended.
RCLRT_SETUP std::optional<Scheduling> read_scheduling(pid_t tid);

/// The threads of this process by thread id, ascending, as /proc/self/task lists them.
RCLRT_SETUP std::vector<pid_t> thread_ids();

/// The name of a thread of this process; empty when it has ended.
RCLRT_SETUP std::string thread_name(pid_t tid);

}  // namespace rclrt::realtime
