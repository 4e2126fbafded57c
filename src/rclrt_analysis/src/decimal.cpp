// SPDX-License-Identifier: Apache-2.0
#include "decimal.hpp"

#include <algorithm>
#include <cstddef>

namespace rclrt::analysis::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the front.
std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) {
    ++n;
  }
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
  if (text.size() > 400) {
    return std::nullopt;
  }
  const std::string_view whole = take_digits(text);
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) {
    return std::nullopt;
  }
  Decimal number;
  number.digits = whole;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::string_view fraction = take_digits(text);
    if (fraction.empty()) {
      return std::nullopt;
    }
    number.digits += fraction;
    number.exponent = -static_cast<int>(fraction.size());
  }
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    const bool negative = !text.empty() && text.front() == '-';
    if (negative || (!text.empty() && text.front() == '+')) {
      text.remove_prefix(1);
    }
    const std::string_view power = take_digits(text);
    if (power.empty() || power.size() > 4) {
      return std::nullopt;
    }
    int value = 0;
    for (const char c : power) {
      value = 10 * value + (c - '0');
    }
    number.exponent += negative ? -value : value;
  }
  if (!text.empty()) {
    return std::nullopt;
  }
  number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), number.digits.size()));
  while (!number.digits.empty() && number.digits.back() == '0') {
    number.digits.pop_back();
    ++number.exponent;
  }
  if (number.zero()) {
    number.exponent = 0;
  }
  return number;
}

std::optional<Ticks> to_ticks(const Decimal& number, int decimals, Round round) {
  if (number.zero()) {
    return 0;
  }
  // Digits from this place on come after the last decimal.
  const auto kept = static_cast<std::ptrdiff_t>(number.digits.size()) + number.exponent + decimals;
  if (kept > 19) {
    return std::nullopt;
  }
  Ticks value = 0;
  for (std::ptrdiff_t i = 0; i < kept; ++i) {
    const bool given = i < static_cast<std::ptrdiff_t>(number.digits.size());
    const Ticks digit = given ? number.digits[static_cast<std::size_t>(i)] - '0' : 0;
    if (__builtin_mul_overflow(value, Ticks{10}, &value) ||
        __builtin_add_overflow(value, digit, &value)) {
      return std::nullopt;
    }
  }
  const bool rest = kept < static_cast<std::ptrdiff_t>(number.digits.size());
  if (rest && round == Round::kUp) {
    ++value;
  }
  return value <= kMaxTicks ? std::optional(value) : std::nullopt;
}

}  // namespace rclrt::analysis::detail
