// SPDX-License-Identifier: Apache-2.0
// Scheduling policies, the permissions of this process, and the actual scheduling of a thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "rclrt/realtime/duration.hpp"
#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A scheduling policy of the kernel.
enum class Policy { kOther, kFifo, kRoundRobin, kDeadline };

/// Returns "SCHED_OTHER", "SCHED_FIFO", "SCHED_RR" or "SCHED_DEADLINE".
RCLRT_REALTIME_EXPORT const char* to_string(Policy policy) noexcept RCLRT_NONBLOCKING;

/// The parameters of SCHED_DEADLINE for a thread. The kernel guarantees `runtime` of CPU time
/// within `deadline` after the begin of each `period`. 1024 ns <= runtime <= deadline <= period.
struct Reservation {
  SaturatingNanoseconds runtime{};
  SaturatingNanoseconds deadline{};
  SaturatingNanoseconds period{};

  bool operator==(const Reservation&) const = default;
};

/// How a thread is scheduled.
struct Scheduling {
  Policy policy = Policy::kOther;
  int priority = 0;           ///< 1..99 for FIFO and RR (higher is more urgent), otherwise 0
  std::vector<int> cpus{};    ///< ascending; empty: those of the thread that starts it
  std::optional<int> nice{};  ///< OTHER: -20 (most urgent) to 19; nullopt: unchanged
  Reservation reservation{};  ///< for DEADLINE, with which `cpus` must be empty

  bool operator==(const Scheduling&) const = default;
};

/// Returns a readable text: "SCHED_FIFO priority 80 on CPUs 0, 1"
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string to_string(const Scheduling& scheduling);

/// Returns std::nullopt if a thread of this process can run under SCHED_FIFO at `priority`;
/// otherwise the cause and its fix in one sentence. To find out, it starts a short-lived thread. In
/// builds with AddressSanitizer or ThreadSanitizer it always returns a reason.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> why_no_realtime(int priority);

/// Returns std::nullopt if a thread of this process can have the given scheduling; otherwise cause
/// and fix. To find out, it applies the scheduling to a short-lived thread. Real-time policies are
/// checked as in `why_no_realtime`.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> why_refused(
    const Scheduling& scheduling);

/// Returns why the kernel refused `scheduling` with `error` (an errno), and the setting that would
/// permit it. The cause is a limit (the text names rtprio, the hard limit and a priority that
/// fits), a missing capability, or the real-time budget of the control group. Returns an empty text
/// if the cause is not known. All reports of a refused scheduling use this text.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string explain_refusal(const Scheduling& scheduling,
                                                              int error);

/// Returns the share of time that the kernel leaves to real-time threads of this process, and the
/// setting that defines the share: "950000 us of every 1000000 us, kernel.sched_rt_runtime_us". If
/// the budget of the control group (version 1) is smaller than that of the machine, returns the
/// former. Returns std::nullopt if there is no limit.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> realtime_limit();

/// Returns SCHED_FIFO at the highest priority that a thread of this process may have. That is 99,
/// or the process's limit (`rtprio` in limits.conf), which then limits its other threads as well.
/// Returns normal scheduling if no real-time priority is permitted. To find out, it applies the
/// scheduling to a short-lived thread.
RCLRT_REALTIME_EXPORT RCLRT_SETUP Scheduling most_urgent_permitted();

/// Returns the CPUs on which the calling thread may run now, ascending. A thread that it starts
/// without stating CPUs gets the same ones. Throws std::system_error.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<int> allowed_cpus();

/// Throws std::invalid_argument if `cpus` has a CPU on which the kernel lets no thread of this
/// process run. The text names the first such CPU, and the CPUs that the process may use. A limit
/// of the whole process (a container's cpuset) counts; the CPUs to which only the calling thread is
/// pinned (taskset, isolcpus=, a thread plan) do not.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void require_allowed_cpus(const std::vector<int>& cpus);

/// Applies `scheduling` to the thread `tid` of this process; `tid` 0 is the calling thread. Throws
/// std::system_error or std::invalid_argument with cause and fix.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void apply_scheduling(pid_t tid, const Scheduling& scheduling);

/// Returns the current scheduling of the thread `tid` of this process, from /proc; `tid` 0 is the
/// calling thread. Returns std::nullopt if the thread has ended. `nice` is set only for OTHER,
/// `reservation` only for DEADLINE. If the thread inherits a priority through a mutex, the result
/// still has the thread's own priority.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<Scheduling> read_scheduling(pid_t tid);

/// Returns the threads of this process by thread id, ascending, as /proc/self/task lists them.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<pid_t> thread_ids();

/// Returns the name of a thread of this process (0: the caller); empty if it has ended.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string thread_name(pid_t tid);

}  // namespace rclrt::realtime
