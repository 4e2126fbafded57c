// SPDX-License-Identifier: Apache-2.0
// The options of a command line, each with the place of its value, its range and its help.
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rclrt/text/export.hpp"
#include "rclrt/text/number.hpp"

namespace rclrt::text {

/// An option of a command line, or an argument without a name. The functions below make it. Its
/// default in the help is the value that its variable has when the option is made.
struct Option {
  std::string name;        ///< "--seconds"; that of an argument is for the help: "APP.yaml"
  std::string value;       ///< the name of its value in the help, "S"; empty: it has none
  std::string help;        ///< what it does
  std::string expected;    ///< "a number of seconds from 0.01 to 86400"; empty: any text
  std::string range{};     ///< the end of the help: ", 0.01 to 86400"
  std::string standard{};  ///< the default; empty: none that the help shows
  std::string required{};  ///< what the error without it expects; empty: it may be missing
  std::vector<std::string> words{};  ///< the possible values, if they are few
  bool repeats = false;  ///< an argument without a name that may occur several times, or never
  /// Stores the value of the option. Returns false if the value is not as expected: the error then
  /// states `expected`. Throws std::invalid_argument to give another text in the error.
  std::function<bool(std::string_view)> store;
};

/// The smallest positive number: the range begins above 0.
constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();

/// Returns an option without a value. It sets `to` to `value`.
RCLRT_TEXT_EXPORT Option flag(std::string name, bool& to, std::string help, bool value = true);

/// Returns an option that takes a text and refuses an empty one.
RCLRT_TEXT_EXPORT Option text(std::string name, std::string value, std::string& to,
                              std::string help);
/// Returns the same option without a default.
RCLRT_TEXT_EXPORT Option text(std::string name, std::string value, std::optional<std::string>& to,
                              std::string help);
/// Returns an option with a path.
RCLRT_TEXT_EXPORT Option path(std::string name, std::string value, std::filesystem::path& to,
                              std::string help);

/// Returns an option with a value that `store` reads: see Option.
RCLRT_TEXT_EXPORT Option custom(std::string name, std::string value, std::string expected,
                                std::function<bool(std::string_view)> store, std::string help);

/// Returns an option with a time in `unit` (nanoseconds, microseconds, milliseconds or seconds).
/// The time is rounded to whole nanoseconds, and a positive time to at least one.
RCLRT_TEXT_EXPORT Option duration(std::string name, std::string value, std::chrono::nanoseconds& to,
                                  std::chrono::nanoseconds unit, Range<double> range,
                                  std::string help);
/// Returns the same option without a default.
RCLRT_TEXT_EXPORT Option duration(std::string name, std::string value,
                                  std::optional<std::chrono::nanoseconds>& to,
                                  std::chrono::nanoseconds unit, Range<double> range,
                                  std::string help);

/// Returns the same option as one that a command line must have. `expected` is the end of the error
/// message if it is missing: "how long to run".
RCLRT_TEXT_EXPORT Option required(Option option, std::string expected);

/// Returns an argument without a name, which a command line must have. `expected` is the end of the
/// error message if it is missing: "the path of an app.yaml".
RCLRT_TEXT_EXPORT Option operand(std::string name, std::filesystem::path& to, std::string expected);
/// Returns all arguments without a name.
RCLRT_TEXT_EXPORT Option operands(std::string name, std::vector<std::string>& to, std::string help);

namespace detail {

/// The bounds of a range as texts; empty: there is no such bound.
struct Bounds {
  std::string least;
  std::string most;
};
RCLRT_TEXT_EXPORT std::string number_text(double number);
/// Sets the texts of a number's range: `what` is "a whole number".
RCLRT_TEXT_EXPORT void describe(Option& option, std::string_view what, const Bounds& bounds);
/// Sets the texts of a choice.
RCLRT_TEXT_EXPORT void describe(Option& option, std::vector<std::string> words);
/// Returns the parts between commas. Throws std::invalid_argument if one is repeated.
RCLRT_TEXT_EXPORT std::vector<std::string_view> split_list(std::string_view text);
/// Splits a list and returns, for each part, its index in `words`. Throws std::invalid_argument if
/// a part is not among `words` (with a suggestion) or is repeated.
RCLRT_TEXT_EXPORT std::vector<std::size_t> indices_of(std::string_view list,
                                                      const std::vector<std::string>& words);

template <typename Number>
std::string text_of(Number number) {
  if constexpr (std::integral<Number>) {
    return std::to_string(number);
  } else {
    return number_text(number);
  }
}

template <typename Number>
Option number_option(std::string name, std::string value, Range<Number> range, std::string help) {
  using Limits = std::numeric_limits<Number>;
  Option option{std::move(name), std::move(value), std::move(help), {}};
  describe(option, std::integral<Number> ? "a whole number" : "a number",
           {Limits::is_signed && range.least == Limits::lowest() ? "" : text_of(range.least),
            range.most == Limits::max() ? "" : text_of(range.most)});
  return option;
}

template <typename T>
std::vector<std::string> words_of(const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning] : choices) {
    words.push_back(word);
  }
  return words;
}

}  // namespace detail

/// Returns an option with a number.
template <typename Number>
  requires std::integral<Number> || std::floating_point<Number>
Option number(std::string name, std::string value, Number& to, Range<Number> range,
              std::string help) {
  Option option = detail::number_option(std::move(name), std::move(value), range, std::move(help));
  if (to >= range.least && to <= range.most) {
    option.standard = detail::text_of(to);
  }
  option.store = [&to, range](std::string_view given) {
    const auto parsed = parse_number<Number>(given, range);
    to = parsed.value_or(to);
    return parsed.has_value();
  };
  return option;
}

/// Returns an option with a number, without a default.
template <typename Number>
Option number(std::string name, std::string value, std::optional<Number>& to, Range<Number> range,
              std::string help) {
  Option option = detail::number_option(std::move(name), std::move(value), range, std::move(help));
  option.store = [&to, range](std::string_view given) {
    to = parse_number<Number>(given, range);
    return to.has_value();
  };
  return option;
}

/// Returns an option with whole numbers and commas between them, each once.
RCLRT_TEXT_EXPORT Option numbers(std::string name, std::string value, std::vector<int>& to,
                                 Range<int> range, std::string help);

/// Returns an option with some of the known words and commas between them, each once.
RCLRT_TEXT_EXPORT Option words(std::string name, std::string value, std::vector<std::string>& to,
                               std::vector<std::string> known, std::string help);

/// Returns an option with one of some words, each with its meaning.
template <typename T>
Option choice(std::string name, std::string value, T& to,
              std::vector<std::pair<std::string, T>> choices, std::string help) {
  Option option{std::move(name), std::move(value), std::move(help), {}};
  detail::describe(option, detail::words_of(choices));
  for (const auto& [word, meaning] : choices) {
    if (meaning == to) {
      option.standard = word;
    }
  }
  option.store = [&to, choices = std::move(choices)](std::string_view given) {
    const auto found = std::ranges::find(choices, given, &std::pair<std::string, T>::first);
    if (found != choices.end()) {
      to = found->second;
    }
    return found != choices.end();
  };
  return option;
}

/// Returns an option with some of the words and commas between them, each once.
template <typename T>
Option choices(std::string name, std::string value, std::vector<T>& to,
               std::vector<std::pair<std::string, T>> known, std::string help) {
  Option option{std::move(name), std::move(value), std::move(help), {}};
  const std::vector<std::string> words = detail::words_of(known);
  detail::describe(option, words);
  option.store = [&to, words, known = std::move(known)](std::string_view given) {
    to.clear();
    for (const std::size_t index : detail::indices_of(given, words)) {
      to.push_back(known[index].second);
    }
    return true;
  };
  return option;
}

}  // namespace rclrt::text
