// SPDX-License-Identifier: Apache-2.0
// Scheduling policies, what this process may use of them, and what a thread really has.
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

/// How the kernel chooses among threads.
enum class Policy { kOther, kFifo, kRoundRobin, kDeadline };

/// Returns "SCHED_OTHER", "SCHED_FIFO", "SCHED_RR" or "SCHED_DEADLINE".
RCLRT_REALTIME_EXPORT const char* to_string(Policy policy) noexcept RCLRT_NONBLOCKING;

/// What SCHED_DEADLINE promises a thread: `runtime` of CPU time within `deadline` of the begin of
/// each `period`. 1024 ns <= runtime <= deadline <= period.
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
  std::optional<int> nice{};  ///< OTHER: -20 (most) to 19 (least); nothing: as it is
  Reservation reservation{};  ///< DEADLINE, which also needs `cpus` to be empty

  bool operator==(const Scheduling&) const = default;
};

/// Returns, for people, "SCHED_FIFO priority 80 on CPUs 0, 1"
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string to_string(const Scheduling& scheduling);

/// Returns std::nullopt if a thread of this process can run under SCHED_FIFO at `priority`;
/// otherwise the cause and its fix in one sentence. Asks the kernel by starting a short-lived
/// thread. Builds with AddressSanitizer or ThreadSanitizer always have a reason not to.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> why_no_realtime(int priority);

/// Returns std::nullopt if a thread of this process can be scheduled like this; otherwise cause and
/// fix. Asks the kernel by giving it to a short-lived thread; real-time policies as
/// `why_no_realtime`.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> why_refused(
    const Scheduling& scheduling);

/// Returns why the kernel refused `scheduling` with `error` (an errno), and the setting that would
/// permit it: the limit that was met (rtprio, the hard limit, a priority that fits), a missing
/// capability, or the real-time budget of the control group. Empty if nothing is known. Everything
/// that reports such a refusal takes its text from here.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string explain_refusal(const Scheduling& scheduling,
                                                              int error);

/// Returns what part of the time the kernel leaves to real-time threads of this process, and the
/// setting that states it ("950000 us of every 1000000 us, kernel.sched_rt_runtime_us"): the budget
/// of the control group (version 1) where it has less than the machine. std::nullopt if there is no
/// limit.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> realtime_limit();

/// Returns SCHED_FIFO as urgent as a thread of this process may be: 99, or what the limit (`rtprio`
/// in limits.conf) permits, which then is the limit of its other threads, too. Normal scheduling if
/// no real-time priority is permitted. Asks as `why_refused`.
RCLRT_REALTIME_EXPORT RCLRT_SETUP Scheduling most_urgent_permitted();

/// Returns the CPUs the calling thread may run on now, and a thread that it starts without stating
/// any; ascending. Throws std::system_error.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<int> allowed_cpus();

/// Throws std::invalid_argument naming the first CPU of `cpus` that the kernel gives no thread of
/// this process, and those it does. Where the caller is pinned to (taskset, isolcpus=, a thread
/// plan) does not matter; what limits the process (a container's cpuset) does.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void require_allowed_cpus(const std::vector<int>& cpus);

/// Gives thread `tid` of this process (0: the caller) what `scheduling` states.
/// Throws std::system_error or std::invalid_argument with cause and fix.
RCLRT_REALTIME_EXPORT RCLRT_SETUP void apply_scheduling(pid_t tid, const Scheduling& scheduling);

/// Returns what /proc says thread `tid` of this process (0: the caller) has now; nothing when it
/// has ended. `nice` is there for OTHER, `reservation` for DEADLINE. While a priority is lent to
/// the thread by a mutex, its own is given.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<Scheduling> read_scheduling(pid_t tid);

/// Returns the threads of this process by thread id, ascending, as /proc/self/task lists them.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::vector<pid_t> thread_ids();

/// Returns the name of a thread of this process (0: the caller); empty when it has ended.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::string thread_name(pid_t tid);

}  // namespace rclrt::realtime
