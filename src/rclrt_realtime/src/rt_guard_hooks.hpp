// SPDX-License-Identifier: Apache-2.0
// The interface between the interposed functions of the C library and the guard of the calling
// thread.
#pragma once

#include "rclrt/realtime/rt_guard.hpp"

namespace rclrt::realtime::detail {

/// The innermost RtGuard of the thread; nullptr: the thread is not guarded, or exempt at the
/// moment. With this TLS model one instruction reads the variable, and malloc can use it, because
/// no thread-local storage is allocated for it at run time.
extern constinit thread_local RtGuard* t_guard __attribute__((tls_model("initial-exec")));

/// Returns the reason why the C library's functions are not interposed; nullptr if they are. This
/// function is defined beside the interposed ones, so a program that calls it also links those.
const char* why_no_hooks() noexcept RCLRT_NONBLOCKING;

}  // namespace rclrt::realtime::detail
