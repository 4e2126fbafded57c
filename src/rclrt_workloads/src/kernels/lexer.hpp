// SPDX-License-Identifier: Apache-2.0
// State machine: splits a text of nested lists of numbers, names and strings into tokens.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../data.hpp"

namespace rclrt::workloads::detail {

/// State and character give the next state: branches that depend on the text.
class Lexer {
 public:
  static constexpr std::size_t kCharacters = 4000;

  /// The counts of the tokens in a text.
  struct Found {
    std::uint64_t numbers = 0;
    std::uint64_t sum = 0;  ///< of the numbers
    std::uint64_t names = 0;
    std::uint64_t strings = 0;
    std::uint64_t deepest = 0;
    std::uint64_t errors = 0;  ///< characters that begin no token, brackets without a partner

    bool operator==(const Found&) const = default;
  };

  Lexer() {
    Numbers random(8);
    std::size_t depth = 0;
    while (text.size() < kCharacters) {
      depth = add_item(random, depth);
    }
    text.append(depth, ']');
  }

  std::uint64_t run() noexcept {
    found = take_apart(text);
    const std::array<std::uint64_t, 6> all{found.numbers, found.sum,     found.names,
                                           found.strings, found.deepest, found.errors};
    return checksum(std::span<const std::uint64_t>(all));
  }

  static Found take_apart(std::string_view text) noexcept {
    Found result;
    State state = State::kBetween;
    std::uint64_t number = 0;
    std::uint64_t depth = 0;
    for (const char character : text) {
      if (state == State::kString) {
        state = character == '"' ? State::kBetween : character == '\\' ? State::kEscape : state;
        continue;
      }
      if (state == State::kEscape) {
        state = State::kString;
        continue;
      }
      if (state == State::kNumber && is_digit(character)) {
        number = number * 10 + static_cast<std::uint64_t>(character - '0');
        continue;
      }
      if (state == State::kName && (is_letter(character) || is_digit(character))) {
        continue;
      }
      if (state == State::kNumber) {
        result.sum += number;
      }
      state = begin(character, number, depth, result);
    }
    result.sum += state == State::kNumber ? number : 0;
    result.errors += depth;
    return result;
  }

  std::string text;
  Found found{};
  Found written{};  ///< the counts of the generated text

 private:
  enum class State : std::uint8_t { kBetween, kNumber, kName, kString, kEscape };

  static bool is_digit(char character) noexcept { return character >= '0' && character <= '9'; }
  static bool is_letter(char character) noexcept { return character >= 'a' && character <= 'z'; }

  /// Returns the state for a character that does not continue the token before.
  static State begin(char character, std::uint64_t& number, std::uint64_t& depth,
                     Found& result) noexcept {
    if (is_digit(character)) {
      ++result.numbers;
      number = static_cast<std::uint64_t>(character - '0');
      return State::kNumber;
    }
    if (is_letter(character)) {
      ++result.names;
      return State::kName;
    }
    switch (character) {
      case '"':
        ++result.strings;
        return State::kString;
      case '[':
        ++depth;
        result.deepest = depth > result.deepest ? depth : result.deepest;
        break;
      case ']':
        depth == 0 ? ++result.errors : --depth;
        break;
      case ' ':
      case ',':
        break;
      default:
        ++result.errors;
    }
    return State::kBetween;
  }

  std::size_t add_item(Numbers& random, std::size_t depth) {
    switch (random.below(6)) {
      case 0:
        text += "[";
        written.deepest = std::max<std::uint64_t>(written.deepest, ++depth);
        return depth;
      case 1:
        if (depth > 0) {
          text += "], ";
          return depth - 1;
        }
        break;
      case 2:
        text += "name" + std::to_string(random.below(50)) + " ";
        ++written.names;
        break;
      case 3:
        text += R"("a \" [quoted] text", )";
        ++written.strings;
        break;
      default: {
        const std::uint64_t number = random.below(100'000);
        text += std::to_string(number) + ", ";
        ++written.numbers;
        written.sum += number;
      }
    }
    return depth;
  }
};

}  // namespace rclrt::workloads::detail
