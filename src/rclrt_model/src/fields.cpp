// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "names.hpp"

namespace rclrt::model::detail {
namespace {

const std::vector<YamlNode> kNoNodes;

bool is_scalar(const YamlNode& node) {
  return node.kind == YamlKind::kPlain || node.kind == YamlKind::kQuoted;
}

/// Plain words that YAML readers turn into a null or a boolean (YAML 1.1 and 1.2 together).
bool is_reserved_word(std::string_view text) {
  std::string lower(text.substr(0, 6));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::array<std::string_view, 8> kWords = {"true", "false", "yes",  "no",
                                                      "on",   "off",   "null", "~"};
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

bool looks_like_a_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == ".inf" || text == ".nan" || text == ".NaN" || text == ".Inf") return true;
  return !text.empty() && text.find_first_not_of("0123456789._eE+-") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

std::string describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kSequence:
      return "a list";
    case YamlKind::kMapping:
      return "a mapping";
    case YamlKind::kQuoted:
      return "the text " + in_quotes(node.text);
    default:
      return node.text.empty() ? "empty" : in_quotes(node.text);
  }
}

void report(const YamlNode& node, std::string_view what, std::string_view expected,
            Context& context) {
  if (node.kind == YamlKind::kRefused) return;
  context.diagnostics.report(node.at, std::string(what) + " is " + describe(node), expected);
}

}  // namespace

Fields::Fields(const YamlNode& node, std::string_view what, std::vector<std::string_view> known,
               Context& context)
    : node_(node), what_(what), context_(context) {
  if (node.kind != YamlKind::kMapping) {
    report(node, what, "a mapping with the keys " + list_in_quotes(known), context);
    sound_ = false;
    return;
  }
  for (std::size_t i = 0; i < node.children.size(); i += 2) {
    const YamlNode& key = node.children[i];
    if (!is_scalar(key)) {
      sound_ = false;
    } else if (std::find(known.begin(), known.end(), key.text) == known.end()) {
      context.diagnostics.report(
          key.at, "unknown key " + in_quotes(key.text) + " in " + what_,
          context.suggester.expected_one_of(key.text, known, "one of the known keys"));
      sound_ = false;
    }
  }
}

const YamlNode* Fields::find(std::string_view key) const {
  if (node_.kind != YamlKind::kMapping) return nullptr;
  for (std::size_t i = 0; i + 1 < node_.children.size(); i += 2) {
    if (is_scalar(node_.children[i]) && node_.children[i].text == key) return &node_.children[i + 1];
  }
  return nullptr;
}

const YamlNode* Fields::require(std::string_view key) const {
  const YamlNode* value = find(key);
  if (value == nullptr && node_.kind == YamlKind::kMapping) {
    context_.diagnostics.report(node_.at, what_ + " has no " + in_quotes(key),
                                "the key " + in_quotes(key));
  }
  return value;
}

const std::vector<YamlNode>& read_list(const YamlNode& node, std::string_view what,
                                       Context& context) {
  if (node.kind == YamlKind::kSequence) return node.children;
  report(node, what, "a list", context);
  return kNoNodes;
}

const std::vector<YamlNode>& read_filled_list(const YamlNode& node, std::string_view what,
                                              Context& context) {
  if (node.kind == YamlKind::kSequence && node.children.empty()) {
    context.diagnostics.report(node.at, std::string(what) + " is an empty list",
                               "at least one entry");
  }
  return read_list(node, what, context);
}

std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                     Context& context) {
  if (!is_scalar(node)) {
    report(node, what, "a text", context);
    return std::nullopt;
  }
  if (node.kind == YamlKind::kPlain) {
    if (node.text.empty()) {
      report(node, what, "a text", context);
      return std::nullopt;
    }
    if (is_reserved_word(node.text) || looks_like_a_number(node.text)) {
      report(node, what, "a text: this word is no text in YAML unless it stands in quotes", context);
      return std::nullopt;
    }
  }
  return node.text;
}

std::optional<std::string> read_name(const YamlNode& node, std::string_view what,
                                     Context& context) {
  auto text = read_text(node, what, context);
  if (text && !is_token(*text)) {
    report(node, what,
           "a name of letters, digits and single '_' that does not begin with a digit, at most " +
               std::to_string(kMaxName) + " characters",
           context);
  }
  return text;
}

std::optional<std::string> read_topic(const YamlNode& node, std::string_view what,
                                      Context& context) {
  auto text = read_text(node, what, context);
  if (text && !is_topic(*text)) {
    report(node, what,
           "a topic: names separated by '/', of letters, digits and single '_', none beginning "
           "with a digit",
           context);
  }
  return text;
}

std::optional<std::int64_t> read_integer(const YamlNode& node, std::string_view what,
                                         IntegerRange range, Context& context) {
  std::int64_t value = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto parsed = std::from_chars(node.text.data(), end, value);
  const std::string_view digits =
      node.text.starts_with('-') ? std::string_view(node.text).substr(1) : node.text;
  const bool whole = node.kind == YamlKind::kPlain && parsed.ec == std::errc{} &&
                     parsed.ptr == end && (digits == "0" || !digits.starts_with('0'));
  if (whole && value >= range.min && value <= range.max) return value;
  std::string expected = "a whole number from " + std::to_string(range.min) + " to " +
                         std::to_string(range.max);
  if (node.kind == YamlKind::kQuoted) expected += " without quotes";
  report(node, what, expected, context);
  return std::nullopt;
}

std::optional<Nanoseconds> read_milliseconds(const YamlNode& node, std::string_view what, Zero zero,
                                             Context& context) {
  if (node.kind != YamlKind::kPlain) {
    report(node, what,
           node.kind == YamlKind::kQuoted ? "a number of milliseconds without quotes"
                                          : "a number of milliseconds",
           context);
    return std::nullopt;
  }
  const MillisecondsResult result = parse_milliseconds(node.text);
  if (!result.value) {
    report(node, what, result.problem, context);
    return std::nullopt;
  }
  if (zero == Zero::kRefused && *result.value == Nanoseconds::zero()) {
    report(node, what, "more than zero milliseconds", context);
    return std::nullopt;
  }
  return result.value;
}

std::optional<std::size_t> read_word(const YamlNode& node, std::string_view what,
                                     const std::vector<std::string_view>& words,
                                     Context& context) {
  if (is_scalar(node)) {
    const auto found = std::find(words.begin(), words.end(), node.text);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    report(node, what, context.suggester.expected_one_of(node.text, words, ""), context);
  } else {
    report(node, what, list_in_quotes(words), context);
  }
  return std::nullopt;
}

}  // namespace rclrt::model::detail
