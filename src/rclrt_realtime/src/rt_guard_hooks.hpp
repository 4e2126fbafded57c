// SPDX-License-Identifier: Apache-2.0
// Between the functions put in front of the C library's and the guard of the calling thread.
#pragma once

#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::realtime::detail {

/// The innermost guard of the thread; nullptr: not guarded, or exempt. The model makes it one
/// instruction to read, and usable inside malloc (no lazy allocation of thread-local storage).
extern constinit thread_local RtGuard* t_guard __attribute__((tls_model("initial-exec")));

/// Why there are no functions in front; nullptr when there are. Its definition stands beside them:
/// who refers to it links them.
const char* why_no_hooks() noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::realtime::detail
