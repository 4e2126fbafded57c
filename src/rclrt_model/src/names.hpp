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

/// [A-Za-z_][A-Za-z0-9_]* without "__"; at most kMaxName characters.
bool is_token(std::string_view text);

/// Tokens separated by "/", optionally with a leading "/".
bool is_topic(std::string_view text);

/// "/" or tokens each with a leading "/".
bool is_namespace(std::string_view text);

/// The name of the topic in the running system, seen by a node of this namespace.
std::string resolve_topic(std::string_view topic, std::string_view name_space);

/// A name for rclrt and ROS. A text that is no name is reported and comes back nevertheless, so
/// that what refers to it finds it; never empty.
std::optional<std::string> read_name(const YamlNode& node, std::string_view what, Context& context);

/// A topic; the text comes back as from read_name().
std::optional<std::string> read_topic(const YamlNode& node, std::string_view what,
                                      Context& context);

}  // namespace rclrt::model::detail
