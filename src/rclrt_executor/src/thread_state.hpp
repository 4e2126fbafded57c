// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of another thread of this process.
#pragma once

#include <cstdint>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Returns the kernel's number of the calling thread.
int this_thread_number() noexcept RCLRT_NONBLOCKING;
/// Returns the CPU time that a thread has used, by its number; -1 if it has ended.
std::int64_t cpu_time_of_ns(int thread) noexcept RCLRT_NONBLOCKING;
/// Returns whether a thread sleeps in the kernel, rather than runs or is ready to; true where the
/// kernel does not tell.
bool is_asleep(int thread) noexcept RCLRT_WAITS;

}  // namespace rclrt::executor
