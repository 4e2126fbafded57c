// SPDX-License-Identifier: Apache-2.0
// Scheduling in the kernel's form, and the meaning of its refusals.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt::realtime {

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/// The kernel's `struct sched_attr` of 48 bytes, which glibc declares only since 2.41.
struct NativeAttributes {
  std::uint32_t size = 48;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(NativeAttributes) == 48);

/// Returns the number of the policy for pthread attributes and `sched_setattr`.
int native_policy(Policy policy);

/// Returns the policy for the kernel's number `native`. SCHED_BATCH, SCHED_IDLE and other policies
/// that are not real-time count as OTHER.
Policy policy_of(int native);

/// Sets the scheduling of the thread `tid` by `sched_setattr`, except its CPUs; `tid` 0 is the
/// calling thread. Returns 0 or the error number.
int set_native_scheduling(pid_t tid, const Scheduling& scheduling);

/// Calls `sched_getattr`. Returns 0 or the error number.
int get_native_scheduling(pid_t tid, NativeAttributes& attributes);

/// Returns a text such as "SCHED_FIFO priority 80", "SCHED_OTHER nice -5" or "SCHED_DEADLINE
/// runtime 1 ms deadline ...".
std::string describe(const Scheduling& scheduling);

/// Throws std::system_error: "<prefix>setting <scheduling> (<explain_refusal>): <cause>".
[[noreturn]] void throw_refused(const std::string& prefix, const Scheduling& scheduling, int error);

}  // namespace rclrt::realtime
