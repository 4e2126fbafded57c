// SPDX-License-Identifier: Apache-2.0
// Every public function carries one of three labels that say where it may be called.
#pragma once

// RCLRT_NONBLOCKING  safe in a real-time thread: no allocation, no lock, no system call that may
// sleep. RCLRT_WAITS        sleeps by design (a futex wait, a cyclic sleep, a lock). RCLRT_SETUP
// configure or prepare phase only: may allocate, lock, sleep and throw.
//
// clang 20 and later turn them into function effects, which the compiler checks
// (-Werror=function-effects) and RealtimeSanitizer watches. Elsewhere they expand to nothing.
#if defined(__clang__) && __has_cpp_attribute(clang::nonblocking)
#define RCLRT_NONBLOCKING [[clang::nonblocking]]
#define RCLRT_WAITS [[clang::blocking]]
#else
#define RCLRT_NONBLOCKING
#define RCLRT_WAITS
#endif
#define RCLRT_SETUP
