// SPDX-License-Identifier: Apache-2.0
// Sums of times that may be the end of the clock.
#pragma once

#include <cstdint>

#include "rclrt/realtime/safety.hpp"

namespace rclrt::executor {

/// Returns `a` + `b`, or INT64_MAX if that is later than the clock's end.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) noexcept RCLRT_NONBLOCKING {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;  // only later times overflow here
}

}  // namespace rclrt::executor
