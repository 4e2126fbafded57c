// SPDX-License-Identifier: Apache-2.0
// The error of a system call that failed.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Throws std::system_error with this text and the value of errno, or with the error number that
/// the call returned. Thread-safe.
[[noreturn]] RCLRT_SETUP inline void throw_errno(const std::string& what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

}  // namespace rclrt::realtime
