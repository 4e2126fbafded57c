// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <algorithm>

namespace rclrt::model::detail {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns whether the text is one token or more, separated by "/".
bool are_tokens(std::string_view text) {
  for (;;) {
    const std::size_t slash = text.find('/');
    if (!is_token(text.substr(0, slash))) {
      return false;
    }
    if (slash == std::string_view::npos) {
      return true;
    }
    text.remove_prefix(slash + 1);
  }
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c); }) &&
         text.find("__") == std::string_view::npos;
}

bool is_topic(std::string_view text) {
  return are_tokens(text.starts_with('/') ? text.substr(1) : text);
}

bool is_namespace(std::string_view text) {
  return text == "/" ||
         (text.starts_with('/') && text.size() <= kMaxNamespace && are_tokens(text.substr(1)));
}

std::string resolve_topic(std::string_view topic, std::string_view name_space) {
  if (topic.starts_with('/')) {
    return std::string(topic);
  }
  std::string resolved(name_space);
  if (!resolved.ends_with('/')) {
    resolved += '/';
  }
  return resolved += topic;
}

std::optional<std::string> read_name(const YamlNode& node, std::string_view what,
                                     Context& context) {
  if (!is_scalar(node) || is_token(node.text)) {
    return read_text(node, what, context);
  }
  report_value(node, what,
               "letters, digits and single '_', not beginning with a digit, at most " +
                   std::to_string(kMaxName) + " characters",
               context);
  return node.text.empty() ? std::nullopt : std::optional(node.text);
}

std::optional<std::string> read_topic(const YamlNode& node, std::string_view what,
                                      Context& context) {
  if (!is_scalar(node) || is_topic(node.text)) {
    return read_text(node, what, context);
  }
  report_value(node, what,
               "names separated by '/', of letters, digits and single '_', none beginning with a "
               "digit",
               context);
  return node.text.empty() ? std::nullopt : std::optional(node.text);
}

}  // namespace rclrt::model::detail
