// SPDX-License-Identifier: Apache-2.0
// Durations in messages, in the unit in which they are easy to read.
#pragma once

#include <cstdint>
#include <string>

#include "rclrt/text/export.hpp"

namespace rclrt::text {

/// Returns the duration (in nanoseconds) with a unit, without an exponent: "1 ns", "2.5 µs",
/// "12.3 ms", "667 s". From 10 s on the unit is the second. Fractions have no more digits than
/// `significant` leaves; the default, 0, rounds nothing.
RCLRT_TEXT_EXPORT std::string duration_text(std::int64_t time_ns, int significant = 0);

}  // namespace rclrt::text
