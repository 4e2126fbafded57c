// SPDX-License-Identifier: Apache-2.0
// The deadline of a chain that has none.
#pragma once

#include <chrono>

namespace rclrt::model {

/// The largest deadline that a file can state. A segment of a cause-effect chain has it if the file
/// does not state the segment as a chain. A late value may be replaced before it is read, so the
/// limits of the whole are none of a segment.
inline constexpr std::chrono::nanoseconds kNoDeadline = std::chrono::hours(1);

}  // namespace rclrt::model
