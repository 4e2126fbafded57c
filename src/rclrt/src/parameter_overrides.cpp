// SPDX-License-Identifier: Apache-2.0
#include "parameter_overrides.hpp"

#include <rcl_yaml_param_parser/parser.h>

#include <memory>

#include "rclrt/error.hpp"

namespace rclrt::detail {

namespace {

/// Cuts the first token off: "/a/b" gives "a" and leaves "/b".
std::string_view next_token(std::string_view& name) {
  if (name.starts_with('/')) {
    name.remove_prefix(1);
  }
  const std::string_view token = name.substr(0, name.find('/'));
  name.remove_prefix(token.size());
  return token;
}

template <typename Array>
auto to_vector(const Array& array) {
  using Value = std::remove_pointer_t<decltype(array.values)>;
  return std::vector<Value>(array.values, array.values + array.size);
}

ParameterValue to_value(const rcl_variant_t& value) {
  if (value.bool_value != nullptr) {
    return *value.bool_value;
  }
  if (value.integer_value != nullptr) {
    return *value.integer_value;
  }
  if (value.double_value != nullptr) {
    return *value.double_value;
  }
  if (value.string_value != nullptr) {
    return std::string(value.string_value);
  }
  if (value.byte_array_value != nullptr) {
    return to_vector(*value.byte_array_value);
  }
  if (value.bool_array_value != nullptr) {
    return to_vector(*value.bool_array_value);
  }
  if (value.integer_array_value != nullptr) {
    return to_vector(*value.integer_array_value);
  }
  if (value.double_array_value != nullptr) {
    return to_vector(*value.double_array_value);
  }
  if (value.string_array_value != nullptr) {
    const auto& strings = *value.string_array_value;
    return std::vector<std::string>(strings.data, strings.data + strings.size);
  }
  return {};
}

}  // namespace

bool node_name_matches(std::string_view pattern, std::string_view node) {
  if (pattern.empty() || node.empty()) {
    return pattern.empty() && node.empty();
  }
  const std::string_view whole_pattern = pattern;
  const std::string_view wanted = next_token(pattern);
  if (wanted == "**") {
    if (node_name_matches(pattern, node)) {
      return true;  // no token
    }
    next_token(node);
    return pattern.empty() || node_name_matches(whole_pattern, node);
  }
  const std::string_view token = next_token(node);
  return (wanted == "*" || wanted == token) && node_name_matches(pattern, node);
}

std::map<std::string, ParameterValue> parameter_overrides(const rcl_arguments_t& arguments,
                                                          const std::string& node) {
  rcl_params_t* given = nullptr;
  check(rcl_arguments_get_param_overrides(&arguments, &given), "reading parameters");
  const std::unique_ptr<rcl_params_t, decltype(&rcl_yaml_node_struct_fini)> owner(
      given, &rcl_yaml_node_struct_fini);
  std::map<std::string, ParameterValue> result;
  for (std::size_t i = 0; given != nullptr && i < given->num_nodes; ++i) {
    if (!node_name_matches(given->node_names[i], node)) {
      continue;
    }
    const rcl_node_params_t& parameters = given->params[i];
    for (std::size_t j = 0; j < parameters.num_params; ++j) {
      result[parameters.parameter_names[j]] = to_value(parameters.parameter_values[j]);
    }
  }
  return result;
}

}  // namespace rclrt::detail
