// SPDX-License-Identifier: Apache-2.0
/// Reading of a YAML tree against a schema: what a mapping may hold and what a scalar must be. Every
/// function reports what is wrong and then returns nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnostics.hpp"
#include "milliseconds.hpp"
#include "suggest.hpp"
#include "yaml_document.hpp"

namespace rclrt::model::detail {

/// What all readers of one file share.
struct Context {
  Diagnostics diagnostics;
  Suggester suggester;
};

/// A mapping and the keys it may have.
class Fields {
 public:
  /// Reports keys that are not known. `what` names the mapping in messages, such as "a callback".
  Fields(const YamlNode& node, std::string_view what, std::vector<std::string_view> known,
         Context& context);

  const YamlNode* find(std::string_view key) const;
  const YamlNode* require(std::string_view key) const;

  /// A mapping without unknown keys.
  bool sound() const { return sound_; }

 private:
  const YamlNode& node_;
  std::string what_;
  Context& context_;
  bool sound_ = true;
};

/// The items of a list; none when the node is something else.
const std::vector<YamlNode>& read_list(const YamlNode& node, std::string_view what,
                                       Context& context);
/// As above, and an empty list is an error.
const std::vector<YamlNode>& read_filled_list(const YamlNode& node, std::string_view what,
                                              Context& context);

std::optional<std::string> read_text(const YamlNode& node, std::string_view what, Context& context);

/// A name for rclrt and ROS. The text comes back even when it is reported as not being a name, so
/// that what refers to it finds it.
std::optional<std::string> read_name(const YamlNode& node, std::string_view what, Context& context);
std::optional<std::string> read_topic(const YamlNode& node, std::string_view what,
                                      Context& context);

struct IntegerRange {
  std::int64_t min;
  std::int64_t max;
};
std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         IntegerRange range, Context& context);

enum class Zero { kAllowed, kRefused };
std::optional<Nanoseconds> read_milliseconds(const YamlNode& node, std::string_view what, Zero zero,
                                             Context& context);

/// Position of a word in the list of choices.
std::optional<std::size_t> read_word(const YamlNode& node, std::string_view what,
                                     const std::vector<std::string_view>& words, Context& context);

template <typename T>
std::optional<T> read_choice(const YamlNode& node, std::string_view what,
                             std::initializer_list<std::pair<std::string_view, T>> choices,
                             Context& context) {
  std::vector<std::string_view> words;
  for (const auto& choice : choices) words.push_back(choice.first);
  const auto index = read_word(node, what, words, context);
  if (!index) return std::nullopt;
  return (choices.begin() + *index)->second;
}

}  // namespace rclrt::model::detail
