// SPDX-License-Identifier: Apache-2.0
// Values that callbacks of a trace store and read.
#pragma once

#include <cstdint>
#include <set>

namespace rclrt::trace {

/// A value of one process that callbacks store and read: a SampledValue of rclrt_realtime.
struct StoredValue {
  std::int64_t process = 0;
  std::set<std::uint32_t> writers{};  ///< callbacks
  std::set<std::uint32_t> readers{};
};

}  // namespace rclrt::trace
