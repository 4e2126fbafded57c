// SPDX-License-Identifier: Apache-2.0
// Decimal numbers of files, exact.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rclrt/analysis/task_set.hpp"

namespace rclrt::analysis::detail {

/// The most decimal places of a tick; longer numbers are rounded to this many.
inline constexpr int kMaxDecimals = 9;

/// A decimal number: digits times a power of ten; "25" and -1 are 2.5.
struct Decimal {
  std::string digits;  ///< without leading or trailing zeros; empty for zero
  int exponent = 0;
  bool zero() const { return digits.empty(); }
  /// Returns the number of decimal places.
  int decimals() const { return exponent < 0 ? -exponent : 0; }
};

/// Reads a number in JSON's format that is not negative, such as "3", "2.50" or "1e-3". Returns
/// std::nullopt for any other text.
std::optional<Decimal> parse_decimal(std::string_view text);

enum class Round { kUp, kDown };

/// Returns the number in units of 10^-decimals; absent when it is more than kMaxTicks.
std::optional<Ticks> to_ticks(const Decimal& number, int decimals, Round round);

}  // namespace rclrt::analysis::detail
