// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/scalars.hpp"

#include <algorithm>
#include <array>
#include <rclrt/text/number.hpp>

namespace rclrt::yaml {
namespace {

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Returns whether YAML 1.1 or 1.2 reads this word, if it is not in quotes, as a null, a truth
/// value or a special number.
bool is_reserved_word(std::string_view text) {
  constexpr std::array<std::string_view, 11> kWords = {
      "true", "false", "yes", "no", "on", "off", "null", "~", ".nan", ".inf", "-.inf"};
  std::string lower(text.substr(0, 6));
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

/// Returns whether the text looks like a number: it has only characters of numbers and begins like
/// a number. ("e0" and "_1" do not.)
bool looks_like_a_number(std::string_view text) {
  if (text.find_first_not_of("0123456789._eE+-") != std::string_view::npos) {
    return false;
  }
  if (text.starts_with('+') || text.starts_with('-')) {
    text.remove_prefix(1);
  }
  if (text.starts_with('.')) {
    text.remove_prefix(1);
  }
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// Returns false for "-0" and "007": parse_number accepts them, but YAML readers differ on them.
bool is_canonical_integer(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
  }
  return text == "0" || !text.starts_with('0');
}

}  // namespace

std::optional<std::string> read_text(const Node& node, std::string_view what, Context& context) {
  if (!is_scalar(node) || (node.kind == Kind::kPlain && node.text.empty())) {
    report_value(node, what, "a text", context);
    return std::nullopt;
  }
  if (node.kind == Kind::kPlain &&
      (is_reserved_word(node.text) || looks_like_a_number(node.text))) {
    report_value(node, what, "a text (YAML takes this for something else unless it is in quotes)",
                 context);
    return std::nullopt;
  }
  return node.text;
}

std::optional<std::int64_t> read_integer(const Node& node, std::string_view what,
                                         IntegerRange range, Context& context) {
  const auto value = text::parse_number<std::int64_t>(node.text, {range.min, range.max});
  if (value && node.kind == Kind::kPlain && is_canonical_integer(node.text)) {
    return value;
  }
  std::string expected =
      range.min == range.max
          ? std::to_string(range.min)
          : "a whole number from " + std::to_string(range.min) + " to " + std::to_string(range.max);
  if (node.kind == Kind::kQuoted) {
    expected += " without quotes";
  }
  report_value(node, what, expected, context);
  return std::nullopt;
}

std::optional<Nanoseconds> read_milliseconds(const Node& node, std::string_view what, Zero zero,
                                             Context& context) {
  if (node.kind != Kind::kPlain) {
    report_value(node, what,
                 node.kind == Kind::kQuoted ? "a number of milliseconds without quotes"
                                            : "a number of milliseconds",
                 context);
    return std::nullopt;
  }
  const MillisecondsResult result = parse_milliseconds(node.text);
  if (!result.value) {
    report_value(node, what, result.problem, context);
  } else if (zero == Zero::kRefused && *result.value == Nanoseconds::zero()) {
    report_value(node, what, "more than zero milliseconds", context);
    return std::nullopt;
  }
  return result.value;
}

std::optional<std::size_t> read_word(const Node& node, std::string_view what,
                                     const std::vector<std::string_view>& words, Context& context) {
  if (!is_scalar(node)) {
    report_value(node, what, list_in_quotes(words), context);
    return std::nullopt;
  }
  const auto found = std::find(words.begin(), words.end(), node.text);
  if (found == words.end()) {
    report_value(node, what,
                 context.suggester.suggest(node.text, words, list_in_quotes(words)).expected,
                 context);
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace rclrt::yaml
