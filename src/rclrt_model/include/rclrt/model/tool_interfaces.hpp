// SPDX-License-Identifier: Apache-2.0
// Topics and services of tools and of the middleware, which are no part of a robot's application.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace rclrt::model {

/// Returns whether only tools and the middleware use the topic.
constexpr bool is_tool_topic(std::string_view name) {
  return name == "/rosout" || name == "/parameter_events" || name == "/clock";
}

/// Returns whether a service is called by tools only, because every node, every container of nodes
/// or every lifecycle node offers it. `name` is the full name of the service.
constexpr bool is_tool_service(std::string_view name) {
  constexpr auto kEnds = std::to_array<std::string_view>(
      {"/describe_parameters", "/get_parameters", "/get_parameter_types", "/list_parameters",
       "/set_parameters", "/set_parameters_atomically", "/get_type_description",
       "/get_logger_levels", "/set_logger_levels", "/_container/load_node",
       "/_container/unload_node", "/_container/list_nodes", "/change_state", "/get_state",
       "/get_available_states", "/get_available_transitions", "/get_transition_graph"});
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace rclrt::model
