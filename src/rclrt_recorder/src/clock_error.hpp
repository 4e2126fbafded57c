// SPDX-License-Identifier: Apache-2.0
// How exactly times of two clocks can be compared.
#pragma once

#include <cstdint>

namespace rclrt::recorder {

/// A time of publication comes from another clock, read at another moment.
inline constexpr std::int64_t kClockError_ns = 20'000;

}  // namespace rclrt::recorder
