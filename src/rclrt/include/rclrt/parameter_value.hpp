// SPDX-License-Identifier: Apache-2.0
// The types of value that a ROS parameter may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "rclrt/export.hpp"

namespace rclrt {

/// In the order of rcl_interfaces/msg/ParameterType, so the index is the number on the wire.
using ParameterValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::uint8_t>,
                 std::vector<bool>, std::vector<std::int64_t>, std::vector<double>,
                 std::vector<std::string>>;

/// See ParameterValue.
enum class ParameterType : std::uint8_t {
  kNotSet,
  kBool,
  kInteger,
  kDouble,
  kString,
  kByteArray,
  kBoolArray,
  kIntegerArray,
  kDoubleArray,
  kStringArray,
};

/// Returns the type of a value.
inline ParameterType type_of(const ParameterValue& value) noexcept {
  return static_cast<ParameterType>(value.index());
}

/// Returns the type for people: "integer", "array of strings".
RCLRT_EXPORT const char* to_string(ParameterType type) noexcept;
/// Returns the value for people, in YAML's flow style: 1, 2.5, true, "text", [1, 2].
RCLRT_EXPORT std::string to_string(const ParameterValue& value);

/// Returns `value` if it has the type `type`. If `type` is double and `value` is an integer,
/// returns it as a double (people write `gain: 2`); likewise for arrays. Returns kNotSet for other
/// types, and for an integer that a double cannot represent exactly.
RCLRT_EXPORT ParameterValue converted(ParameterValue value, ParameterType type);

namespace detail {

template <typename T>
constexpr auto parameter_type_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return std::type_identity<bool>{};
  } else if constexpr (std::is_integral_v<T>) {
    return std::type_identity<std::int64_t>{};
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::type_identity<double>{};
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    return std::type_identity<std::string>{};
  } else {
    static_assert(std::is_constructible_v<ParameterValue, std::in_place_type_t<T>>,
                  "a parameter is a bool, an integer, a double, a string, or a std::vector of "
                  "std::uint8_t, bool, std::int64_t, double or std::string");
    return std::type_identity<T>{};
  }
}

}  // namespace detail

/// The parameter type that holds a T: `int` is kept as std::int64_t, `const char*` as std::string.
template <typename T>
using StoredParameter = decltype(detail::parameter_type_of<T>())::type;

/// A name and the requested value.
struct ParameterChange {
  std::string name;
  ParameterValue value;
};

}  // namespace rclrt
