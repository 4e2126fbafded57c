// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/fields.hpp"

#include <algorithm>

namespace rclrt::yaml {
namespace {

const std::vector<Node> kNoNodes;

std::string describe(const Node& node) {
  switch (node.kind) {
    case Kind::kSequence:
      return "a list";
    case Kind::kMapping:
      return "a mapping";
    case Kind::kQuoted:
      return "the text " + in_quotes(node.text);
    default:
      return node.text.empty() ? "empty" : in_quotes(node.text);
  }
}

}  // namespace

void report_value(const Node& node, std::string_view what, std::string_view expected,
                  Context& context) {
  if (node.kind == Kind::kRefused) {
    return;
  }
  context.diagnostics.report(node.at, std::string(what) + " is " + describe(node), expected);
}

Fields::Fields(const Node& node, std::string_view what, std::vector<std::string_view> known,
               Context& context)
    : node_(node), what_("the " + std::string(what)), context_(context) {
  if (node.kind != Kind::kMapping) {
    report_value(node, what_, "a mapping with keys such as " + in_quotes(known.front()), context);
    sound_ = false;
    return;
  }
  for (std::size_t i = 0; i < node.children.size(); i += 2) {
    const Node& key = node.children[i];
    if (is_scalar(key) && std::find(known.begin(), known.end(), key.text) != known.end()) {
      continue;
    }
    sound_ = false;
    if (!is_scalar(key)) {
      continue;
    }
    const Suggestion suggestion = context.suggester.suggest(key.text, known, "a known key");
    misspelt_.push_back(suggestion.guess);
    // A format has few keys, so all are listed if there is no guess.
    context.diagnostics.report(
        key.at, "unknown key " + in_quotes(key.text) + " in " + what_,
        suggestion.guess.empty() && !known.empty() ? list_in_quotes(known) : suggestion.expected);
  }
}

const Node* Fields::find(std::string_view key) const {
  if (node_.kind != Kind::kMapping) {
    return nullptr;
  }
  for (std::size_t i = 0; i + 1 < node_.children.size(); i += 2) {
    if (is_scalar(node_.children[i]) && node_.children[i].text == key) {
      return &node_.children[i + 1];
    }
  }
  return nullptr;
}

const Node* Fields::require(std::string_view key, std::string_view example) const {
  const Node* value = find(key);
  if (value == nullptr && node_.kind == Kind::kMapping && !is_misspelt(key)) {
    context_.diagnostics.report(node_.at, what_ + " has no " + in_quotes(key),
                                "a key such as " + in_quotes(example));
  }
  return value;
}

bool Fields::is_misspelt(std::string_view key) const {
  return std::find(misspelt_.begin(), misspelt_.end(), key) != misspelt_.end();
}

const std::vector<Node>& read_list(const Node& node, std::string_view what, Context& context) {
  if (node.kind == Kind::kSequence) {
    return node.children;
  }
  report_value(node, what, "a list", context);
  return kNoNodes;
}

const std::vector<Node>& read_filled_list(const Node& node, std::string_view what,
                                          Context& context) {
  if (node.kind == Kind::kSequence && node.children.empty()) {
    context.diagnostics.report(node.at, std::string(what) + " is an empty list",
                               "at least one entry");
  }
  return read_list(node, what, context);
}

}  // namespace rclrt::yaml
