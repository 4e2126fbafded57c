// SPDX-License-Identifier: Apache-2.0
// The rules of ROS for names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "yaml.hpp"

namespace rclrt::model::detail {

inline constexpr std::size_t kMaxName = 255;       ///< rmw's limit of a node name
inline constexpr std::size_t kMaxNamespace = 245;  ///< rmw's limit
inline constexpr std::size_t kMaxTopic = 247;      ///< rmw's limit of a topic with its namespace

/// Returns whether the text is a name that ROS and rclrt accept: [A-Za-z_][A-Za-z0-9_]* without
/// "__", and at most kMaxName characters.
bool is_token(std::string_view text);

/// Returns whether the text is tokens separated by "/", optionally with a leading "/".
bool is_topic(std::string_view text);

/// Returns whether the text is "/", or tokens each with a leading "/".
bool is_namespace(std::string_view text);

/// Returns the name of the topic in the running system, for a node of this namespace.
std::string resolve_topic(std::string_view topic, std::string_view name_space);

/// Reads a name that is valid in rclrt and in ROS. Reports an invalid name, and still returns its
/// text so that references to it can be resolved. nullopt: the node is no text, or empty.
std::optional<std::string> read_name(const YamlNode& node, std::string_view what, Context& context);

/// Reads a topic; returns an invalid text as read_name() does.
std::optional<std::string> read_topic(const YamlNode& node, std::string_view what,
                                      Context& context);

}  // namespace rclrt::model::detail
