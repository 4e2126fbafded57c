// SPDX-License-Identifier: Apache-2.0
// Reads times exactly: decimal milliseconds to integer nanoseconds, without floating point.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "rclrt/model/export.hpp"

namespace rclrt::yaml {

/// The unit of all times that are read.
using Nanoseconds = std::chrono::nanoseconds;

/// The longest time that a file may state: an hour.
inline constexpr Nanoseconds kMaxTime = std::chrono::hours(1);

/// A time, or what is wrong with its text.
struct MillisecondsResult {
  std::optional<Nanoseconds> value;
  std::string_view problem;  ///< the expected form of the text, if there is no value
};

/// Converts a text to a time in milliseconds. The text has digits and optionally a point with one
/// to six more digits: "0", "2.5", "0.000001". Signs, exponents, leading zeros, spaces and times
/// above kMaxTime are errors.
RCLRT_MODEL_EXPORT MillisecondsResult parse_milliseconds(std::string_view text);

}  // namespace rclrt::yaml
