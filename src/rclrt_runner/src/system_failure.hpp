// SPDX-License-Identifier: Apache-2.0
// The error of a system call that failed.
#pragma once

#include <cerrno>
#include <system_error>

namespace rclrt::runner {

/// Throws std::system_error with the value of errno and this text.
[[noreturn]] inline void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace rclrt::runner
