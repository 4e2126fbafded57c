// SPDX-License-Identifier: Apache-2.0
// Every public function has one of three labels, which state where it may be called.
#pragma once

#include <cerrno>

#if defined(__has_feature)
#if __has_feature(realtime_sanitizer)
#include <sanitizer/rtsan_interface.h>
#define RCLRT_DETAIL_RTSAN 1
#endif
#endif

/// @def RCLRT_NONBLOCKING
/// Labels a function that is safe in a real-time thread: no allocation, no lock, no system call
/// that may sleep. Write it after noexcept.

/// @def RCLRT_WAITS
/// Labels a function that sleeps by design (a futex wait, a cyclic sleep, a lock). Write it after
/// noexcept.

/// @def RCLRT_SETUP
/// Labels a function for the configure or prepare phase only: it may allocate, lock, sleep and
/// throw. Write it first.

// Under clang 20 and later the three labels are function effects: the compiler rejects a
// nonblocking function with a forbidden operation (-Werror=function-effects), and RealtimeSanitizer
// (-fsanitize=realtime) stops the program at a forbidden operation that the compiler cannot see.
// With other compilers the labels expand to nothing.
#if defined(__clang__) && __has_cpp_attribute(clang::nonblocking)
#define RCLRT_NONBLOCKING [[clang::nonblocking]]
#define RCLRT_WAITS [[clang::blocking]]
#define RCLRT_SETUP __attribute__((blocking))  // the one spelling that may stand first
#define RCLRT_DETAIL_EFFECTS 1
#else
#define RCLRT_NONBLOCKING
#define RCLRT_WAITS
#define RCLRT_SETUP
#endif

/// @def RCLRT_TRUST
/// Exempts an expression inside a nonblocking function from the checks of the compiler and the
/// sanitizer. Use it for system calls that do not sleep, but are not declared so. The text is the
/// reason why the call does not sleep. A reviewer should check each use.
///
///     RCLRT_TRUST("reading a clock does not sleep", clock_gettime(clock, &now));
#if defined(RCLRT_DETAIL_EFFECTS)
#define RCLRT_TRUST(reason, ...)                                                      \
  (::rclrt::realtime::detail::trusted([&]() noexcept -> decltype(auto) {              \
    static_assert(sizeof("" reason) > 1, "RCLRT_TRUST needs a reason, for a reader"); \
    return __VA_ARGS__;                                                               \
  }))

namespace rclrt::realtime::detail {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wfunction-effects"
template <typename Expression>
[[gnu::always_inline]] inline decltype(auto) trusted(const Expression& expression) noexcept
    RCLRT_NONBLOCKING {
#if defined(RCLRT_DETAIL_RTSAN)
  const __rtsan::ScopedDisabler unchecked;
#endif
  return expression();
}
#pragma clang diagnostic pop
}  // namespace rclrt::realtime::detail

#if defined(__GLIBC__)
// Declares the C library's function behind errno as nonblocking, so that nonblocking functions may
// use errno. It returns the address of a thread-local variable.
// NOLINTNEXTLINE(readability-redundant-declaration): this one adds the effect
extern "C" int* __errno_location() noexcept RCLRT_NONBLOCKING;
#endif
#else
#define RCLRT_TRUST(reason, ...) (static_cast<void>("" reason), __VA_ARGS__)
#endif
