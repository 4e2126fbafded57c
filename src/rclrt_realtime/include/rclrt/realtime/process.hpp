// SPDX-License-Identifier: Apache-2.0
// Process-wide preparation for real time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Locks all present and future memory of the process into RAM and keeps the heap from giving
/// memory back, so that a real-time thread meets no page fault for memory it has touched.
/// Returns nothing on success, otherwise cause and fix; the process then goes on unlocked.
RCLRT_SETUP std::optional<std::string> lock_memory();

/// Touches the next `bytes` of the calling thread's stack, which must have room for them, so that
/// they meet no page fault later.
RCLRT_SETUP void prefault_stack(std::size_t bytes);

}  // namespace rclrt::realtime
