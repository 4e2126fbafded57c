// SPDX-License-Identifier: Apache-2.0
// Reads YAML scalars and checks their values. If a value is wrong, each function reports it under
// the name `what` and returns std::nullopt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/fields.hpp"
#include "rclrt/yaml/milliseconds.hpp"

namespace rclrt::yaml {

/// Reads a text. Reports any other node and returns std::nullopt.
RCLRT_MODEL_EXPORT std::optional<std::string> read_text(const Node& node, std::string_view what,
                                                        Context& context);

/// The smallest and the largest number that is accepted.
struct IntegerRange {
  std::int64_t min;
  std::int64_t max;
};
/// Reads a whole number in a range. Reports any other node and returns std::nullopt.
RCLRT_MODEL_EXPORT std::optional<std::int64_t> read_integer(const Node& node, std::string_view what,
                                                            IntegerRange range, Context& context);

/// Whether a time may be zero.
enum class Zero { kAllowed, kRefused };
/// Reads a time in milliseconds, exact to the nanosecond. If the node is anything else, reports it
/// and returns std::nullopt.
RCLRT_MODEL_EXPORT std::optional<Nanoseconds> read_milliseconds(const Node& node,
                                                                std::string_view what, Zero zero,
                                                                Context& context);

/// Returns the index of the value in the list of words.
RCLRT_MODEL_EXPORT std::optional<std::size_t> read_word(const Node& node, std::string_view what,
                                                        const std::vector<std::string_view>& words,
                                                        Context& context);

/// Returns the value that the word represents.
template <typename T>
std::optional<T> read_choice(const Node& node, std::string_view what,
                             std::initializer_list<std::pair<std::string_view, T>> choices,
                             Context& context) {
  std::vector<std::string_view> words;
  words.reserve(choices.size());
  for (const auto& choice : choices) {
    words.push_back(choice.first);
  }
  const auto index = read_word(node, what, words, context);
  if (!index) {
    return std::nullopt;
  }
  return (choices.begin() + *index)->second;
}

}  // namespace rclrt::yaml
