// SPDX-License-Identifier: Apache-2.0
// The precision of a comparison of times of two clocks.
#pragma once

#include <cstdint>

namespace rclrt::recorder {

/// A time of publication comes from another clock, which is read at another moment.
inline constexpr std::int64_t kClockError_ns = 20'000;

}  // namespace rclrt::recorder
