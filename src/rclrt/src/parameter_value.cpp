// SPDX-License-Identifier: Apache-2.0
#include "rclrt/parameter_value.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace rclrt {

namespace {

std::string text(bool value) { return value ? "true" : "false"; }
std::string text(std::int64_t value) { return std::to_string(value); }
std::string text(std::uint8_t value) { return std::to_string(value); }
std::string text(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%g", value);
  return buffer.data();
}
std::string text(const std::string& value) { return "\"" + value + "\""; }
std::string text(std::monostate /*value*/) { return "nothing"; }
template <typename T>
std::string text(const std::vector<T>& values) {
  std::string result = "[";
  for (const auto& value : values) {
    result += (result.size() > 1 ? ", " : "") + text(static_cast<T>(value));
  }
  return result + "]";
}

/// Doubles hold integers up to 2^53 exactly.
std::optional<double> as_double(std::int64_t value) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 53;
  if (value < -kLimit || value > kLimit) {
    return std::nullopt;
  }
  return static_cast<double>(value);
}

}  // namespace

const char* to_string(ParameterType type) noexcept {
  constexpr std::array kNames = {
      "nothing",          "boolean",         "integer",           "double",
      "string",           "array of bytes",  "array of booleans", "array of integers",
      "array of doubles", "array of strings"};
  return kNames.at(static_cast<std::size_t>(type));
}

std::string to_string(const ParameterValue& value) {
  return std::visit([](const auto& held) { return text(held); }, value);
}

ParameterValue converted(ParameterValue value, ParameterType type) {
  if (type_of(value) == type) {
    return value;
  }
  if (type == ParameterType::kDouble && type_of(value) == ParameterType::kInteger) {
    if (const auto exact = as_double(std::get<std::int64_t>(value))) {
      return *exact;
    }
  }
  if (type == ParameterType::kDoubleArray && type_of(value) == ParameterType::kIntegerArray) {
    std::vector<double> result;
    for (const std::int64_t each : std::get<std::vector<std::int64_t>>(value)) {
      const auto exact = as_double(each);
      if (!exact) {
        return {};
      }
      result.push_back(*exact);
    }
    return result;
  }
  return {};
}

}  // namespace rclrt
