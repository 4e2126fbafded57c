// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/milliseconds.hpp"

#include <algorithm>
#include <cstdint>

namespace rclrt::yaml {
namespace {

constexpr std::size_t kDecimals = 6;        // a nanosecond is 0.000001 ms
constexpr std::size_t kMaxWholeDigits = 7;  // an hour is 3600000 ms

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t to_integer(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) {
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

MillisecondsResult parse_milliseconds(std::string_view text) {
  if (text.starts_with('-')) {
    return {{}, "a number of milliseconds that is not negative"};
  }
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const bool has_fraction = point != std::string_view::npos;
  const std::string_view fraction = has_fraction ? text.substr(point + 1) : std::string_view();
  if (!all_digits(whole) || (has_fraction && !all_digits(fraction)) ||
      (whole.size() > 1 && whole.front() == '0')) {
    return {{}, "milliseconds as a decimal number such as 20 or 2.5"};
  }
  if (fraction.size() > kDecimals) {
    return {{}, "at most six decimals (a nanosecond is 0.000001 ms)"};
  }
  constexpr std::string_view kTooLong = "at most 3600000 (one hour)";
  if (whole.size() > kMaxWholeDigits) {
    return {{}, kTooLong};
  }
  std::int64_t nanoseconds = to_integer(fraction);
  for (std::size_t i = fraction.size(); i < kDecimals; ++i) {
    nanoseconds *= 10;
  }
  nanoseconds += to_integer(whole) * 1'000'000;
  if (Nanoseconds(nanoseconds) > kMaxTime) {
    return {{}, kTooLong};
  }
  return {Nanoseconds(nanoseconds), {}};
}

}  // namespace rclrt::yaml
