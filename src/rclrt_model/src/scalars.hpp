// SPDX-License-Identifier: Apache-2.0
/// Reading of YAML scalars: what a value must be. Each function reports what is wrong, calling the
/// value `what`, and then gives nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fields.hpp"
#include "milliseconds.hpp"

namespace rclrt::model::detail {

std::optional<std::string> read_text(const YamlNode& node, std::string_view what, Context& context);

/// A name for rclrt and ROS. A text that is no name is reported and comes back nevertheless, so
/// that what refers to it finds it; never empty.
std::optional<std::string> read_name(const YamlNode& node, std::string_view what, Context& context);

/// A topic; the text comes back as from read_name().
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

/// The position of the value in the list of words.
std::optional<std::size_t> read_word(const YamlNode& node, std::string_view what,
                                     const std::vector<std::string_view>& words, Context& context);

/// The value that stands for the word.
template <typename T>
std::optional<T> read_choice(const YamlNode& node, std::string_view what,
                             std::initializer_list<std::pair<std::string_view, T>> choices,
                             Context& context) {
  std::vector<std::string_view> words;
  words.reserve(choices.size());
  for (const auto& choice : choices) words.push_back(choice.first);
  const auto index = read_word(node, what, words, context);
  if (!index) return std::nullopt;
  return (choices.begin() + *index)->second;
}

}  // namespace rclrt::model::detail
