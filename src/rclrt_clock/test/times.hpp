// SPDX-License-Identifier: Apache-2.0
// Times in nanoseconds.
#pragma once

#include <cstdint>

namespace rclrt::clock::testing {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kYear2026 = 1'767'225'600 * kSecond;  ///< its begin, since 1970

}  // namespace rclrt::clock::testing
