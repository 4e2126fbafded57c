// SPDX-License-Identifier: Apache-2.0
#include "parameter_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rclrt::detail {

namespace {

using rcl_interfaces::msg::FloatingPointRange;
using rcl_interfaces::msg::IntegerRange;

bool is_in(const IntegerRange& range, std::int64_t value) {
  if (value < range.from_value || value > range.to_value) {
    return false;
  }
  const auto distance =
      static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(range.from_value);
  return range.step == 0 || value == range.to_value || distance % range.step == 0;
}

bool is_in(const FloatingPointRange& range, double value) {
  if (!(value >= range.from_value && value <= range.to_value)) {
    return false;  // not a number, too
  }
  if (range.step == 0 || value == range.to_value) {
    return true;
  }
  // 0.3 is a step of 0.1 from 0, although its nearest double is none.
  const double nearest =
      range.from_value + std::round((value - range.from_value) / range.step) * range.step;
  const double scale = std::max({std::abs(value), std::abs(range.from_value), range.step});
  return std::abs(nearest - value) <= 8 * std::numeric_limits<double>::epsilon() * scale;
}

template <typename Range>
std::string text(const Range& range) {
  using Value = std::conditional_t<std::is_same_v<Range, IntegerRange>, std::int64_t, double>;
  std::string result = "from " + to_string(ParameterValue(range.from_value)) + " to " +
                       to_string(ParameterValue(range.to_value));
  if (range.step != 0) {
    result += " in steps of " + to_string(ParameterValue(static_cast<Value>(range.step)));
  }
  return result;
}

template <typename Value, typename Ranges>
std::string why_out_of_range(const Ranges& ranges, const ParameterValue& value) {
  const auto* const number = std::get_if<Value>(&value);
  if (number == nullptr || ranges.empty() || is_in(ranges.front(), *number)) {
    return {};
  }
  return "must be " + text(ranges.front()) + ", not " + to_string(value);
}

template <typename Ranges>
bool is_sane(const Ranges& ranges) {
  return ranges.empty() ||
         (ranges.front().from_value <= ranges.front().to_value && ranges.front().step >= 0);
}

}  // namespace

std::string why_refused(const rcl_interfaces::msg::ParameterDescriptor& descriptor,
                        ParameterValue& value) {
  const auto wanted = static_cast<ParameterType>(descriptor.type);
  ParameterValue usable = converted(value, wanted);
  std::string reason;
  if (type_of(usable) != wanted) {
    reason = std::string("must be of type ") + to_string(wanted) + ", not " +
             to_string(type_of(value)) + " (" + to_string(value) + ")";
  } else {
    reason = why_out_of_range<std::int64_t>(descriptor.integer_range, usable) +
             why_out_of_range<double>(descriptor.floating_point_range, usable);
  }
  if (!reason.empty()) {
    return "parameter \"" + descriptor.name + "\" " + reason;
  }
  value = std::move(usable);
  return {};
}

std::string why_not_described(const rcl_interfaces::msg::ParameterDescriptor& descriptor) {
  if (descriptor.name.empty()) {
    return "a parameter needs a name";
  }
  if (!is_sane(descriptor.integer_range) || !is_sane(descriptor.floating_point_range)) {
    return "the range of parameter \"" + descriptor.name +
           "\" is empty: `from` must not be above `to`, nor `step` negative";
  }
  return {};
}

}  // namespace rclrt::detail
