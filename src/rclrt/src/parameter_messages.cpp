// SPDX-License-Identifier: Apache-2.0
#include "parameter_messages.hpp"

#include <type_traits>

namespace rclrt::detail {

namespace {
/// The field of the message that holds a T.
template <typename T, typename Message>
auto& field(Message& message) {
  if constexpr (std::is_same_v<T, bool>) {
    return message.bool_value;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return message.integer_value;
  } else if constexpr (std::is_same_v<T, double>) {
    return message.double_value;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return message.string_value;
  } else if constexpr (std::is_same_v<T, std::vector<std::uint8_t>>) {
    return message.byte_array_value;
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    return message.bool_array_value;
  } else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) {
    return message.integer_array_value;
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return message.double_array_value;
  } else {
    return message.string_array_value;
  }
}

template <std::size_t kIndex = 1>
ParameterValue held(const rcl_interfaces::msg::ParameterValue& message) {
  if constexpr (kIndex < std::variant_size_v<ParameterValue>) {
    if (message.type == kIndex) {
      return field<std::variant_alternative_t<kIndex, ParameterValue>>(message);
    }
    return held<kIndex + 1>(message);
  } else {
    return {};
  }
}
}  // namespace

rcl_interfaces::msg::ParameterValue to_message(const ParameterValue& value) {
  rcl_interfaces::msg::ParameterValue message;
  message.type = static_cast<std::uint8_t>(value.index());
  std::visit(
      [&message]<typename T>(const T& held_value) {
        if constexpr (!std::is_same_v<T, std::monostate>) {
          field<T>(message) = held_value;
        }
      },
      value);
  return message;
}

rcl_interfaces::msg::Parameter to_message(const ParameterChange& change) {
  rcl_interfaces::msg::Parameter message;
  message.name = change.name;
  message.value = to_message(change.value);
  return message;
}

ParameterValue from_message(const rcl_interfaces::msg::ParameterValue& message) {
  return held(message);
}

}  // namespace rclrt::detail
