// SPDX-License-Identifier: Apache-2.0
// Reads numbers from texts: in every locale alike, without exceptions or allocations.
#pragma once

#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace rclrt::text {

/// The smallest and the largest number that is accepted: by default, every finite number.
template <typename Number>
struct Range {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
};

/// Reads the number at the begin of `text`, removes it from `text` and returns it. Returns
/// std::nullopt and leaves `text` unchanged if it does not begin with a number, or if `Number`
/// cannot represent the number. A plus sign and blanks are not part of a number. `base` is the base
/// of whole numbers.
template <typename Number>
std::optional<Number> take_number(std::string_view& text, int base = 10) noexcept {
  Number value{};
  const char* const first = text.data();
  const char* const last = first + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(first, last, value);
  } else {
    read = std::from_chars(first, last, value, base);
  }
  if (read.ec != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return value;
}

/// Converts the whole of `text` to a number. Returns std::nullopt if it is not a number or not in
/// the range; infinities and NaN are never in the range.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, Range<Number> range = {},
                                   int base = 10) noexcept {
  const std::optional<Number> value = take_number<Number>(text, base);
  const bool accepted = value && text.empty() && *value >= range.least && *value <= range.most;
  return accepted ? value : std::nullopt;
}

}  // namespace rclrt::text
