// SPDX-License-Identifier: Apache-2.0
// The kernel's data about a thread of this process.
#pragma once

#include <cstdint>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Returns the kernel's thread ID of the calling thread.
int this_thread_number() noexcept RCLRT_NONBLOCKING;
/// Returns the CPU time that the thread with this ID has used; -1 if it has ended.
std::int64_t cpu_time_of_ns(int thread) noexcept RCLRT_NONBLOCKING;
/// Returns whether the thread with this kernel thread ID is asleep: it neither runs nor is ready to
/// run. Returns true if the kernel does not report the state.
bool is_asleep(int thread) noexcept RCLRT_WAITS;

}  // namespace rclrt::executor
