// SPDX-License-Identifier: Apache-2.0
// The interface between the interposed functions of the C library and the guard of the calling
// thread.
#pragma once

#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::realtime::detail {

/// The innermost guard of the thread; nullptr: not guarded, or exempt. With this TLS model, one
/// instruction reads it, and malloc can use it (no lazy allocation of thread-local storage).
extern constinit thread_local RtGuard* t_guard __attribute__((tls_model("initial-exec")));

/// Returns the reason why no functions are interposed; nullptr if they are. It is defined beside
/// them, so a program that refers to it links them.
const char* why_no_hooks() noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::realtime::detail
