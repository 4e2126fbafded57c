// SPDX-License-Identifier: Apache-2.0
// The memory of large allocations, which return to the system as soon as they are freed.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <vector>

#include "rclrt/recorder/instance_record.hpp"

namespace rclrt::recorder::test {

/// As many as the C library allocates apart from its heap: more than 32 MiB.
inline std::vector<LoggedInstance> many_instances() {
  return std::vector<LoggedInstance>((std::size_t{40} << 20) / sizeof(LoggedInstance));
}

/// Returns the bytes that the C library has mapped for large allocations.
inline std::size_t mapped_bytes() { return mallinfo2().hblkhd; }

/// Returns whether a sanitizer allocates in place of the C library, so that mapped_bytes() is 0.
inline bool has_own_allocator() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

}  // namespace rclrt::recorder::test
