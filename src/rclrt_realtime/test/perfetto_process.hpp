// SPDX-License-Identifier: Apache-2.0
// The process and the clocks of the traces in tests.
#pragma once

#include "rclrt/realtime/perfetto_writer.hpp"

namespace rclrt::realtime {

inline PerfettoProcess process() {
  return {.name = "app", .pid = 300, .sequence_id = 5, .uuid_base = 0};
}
inline constexpr PerfettoClocks kClocks{.monotonic_ns = 1, .boottime_ns = 2};

}  // namespace rclrt::realtime
