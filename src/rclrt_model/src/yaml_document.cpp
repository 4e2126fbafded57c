// SPDX-License-Identifier: Apache-2.0
#include "yaml_document.hpp"

#include <yaml.h>

#include <algorithm>
#include <new>
#include <utility>

namespace rclrt::model::detail {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(
        &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  yaml_parser_t* operator->() { return &parser_; }
  yaml_parser_t* get() { return &parser_; }

 private:
  yaml_parser_t parser_{};
};

class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool next(Parser& parser) { return yaml_parser_parse(parser.get(), &event_) != 0; }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_{};
};

Position position(const yaml_mark_t& mark) {
  return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

/// Where a byte of the text stands.
Position position_of_byte(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  Position at;
  at.line += static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n'));
  at.column += static_cast<std::uint32_t>(
      std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_start), before.end(),
                    is_first_byte));
  return at;
}

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics), parser_(text) {}

  std::optional<YamlNode> build() {
    std::size_t documents = 0;
    for (;;) {
      Event event;
      if (!event.next(parser_)) return syntax_error();
      const Position at = position(event->start_mark);
      switch (event->type) {
        case YAML_STREAM_END_EVENT:
          if (documents == 0) diagnostics_.report({}, "the file is empty", "'rclrt: 1' to begin it");
          return std::move(root_);
        case YAML_DOCUMENT_START_EVENT:
          if (++documents > 1) {
            diagnostics_.report(at, "a second document begins here", "one document in the file");
            return std::move(root_);
          }
          break;
        case YAML_SEQUENCE_END_EVENT:
          close();
          break;
        case YAML_MAPPING_END_EVENT:
          check_keys(open_.back());
          close();
          break;
        case YAML_ALIAS_EVENT:
          diagnostics_.report(at, "aliases ('*name') are not supported", "the value itself");
          add({YamlKind::kRefused, at, {}, {}});
          break;
        case YAML_SCALAR_EVENT: {
          const auto& scalar = event->data.scalar;
          refuse_properties(at, scalar.anchor, scalar.tag);
          const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
          add({plain ? YamlKind::kPlain : YamlKind::kQuoted, at,
               std::string(reinterpret_cast<const char*>(scalar.value), scalar.length), {}});
          break;
        }
        case YAML_SEQUENCE_START_EVENT:
          refuse_properties(at, event->data.sequence_start.anchor, event->data.sequence_start.tag);
          open_.push_back({YamlKind::kSequence, at, {}, {}});
          break;
        case YAML_MAPPING_START_EVENT:
          refuse_properties(at, event->data.mapping_start.anchor, event->data.mapping_start.tag);
          open_.push_back({YamlKind::kMapping, at, {}, {}});
          break;
        default:  // stream start, document end
          break;
      }
      if (open_.size() > kMaxDepth) {
        diagnostics_.report(at, "the nesting is too deep",
                            "at most " + std::to_string(kMaxDepth) + " levels");
        return std::nullopt;
      }
      if (++events_ > kMaxValues) {
        diagnostics_.report(at, "the file holds too many values",
                            "at most " + std::to_string(kMaxValues));
        return std::nullopt;
      }
    }
  }

 private:
  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().children.push_back(std::move(node));
    }
  }

  void close() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    add(std::move(node));
  }

  void refuse_properties(Position at, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr) {
      diagnostics_.report(at, "anchors ('&name') are not supported", "the value alone");
    }
    if (tag != nullptr) {
      diagnostics_.report(at, "tags ('!name') are not supported", "the value alone");
    }
  }

  void check_keys(const YamlNode& mapping) {
    std::vector<const YamlNode*> keys;
    keys.reserve(mapping.children.size() / 2);
    for (std::size_t i = 0; i < mapping.children.size(); i += 2) {
      const YamlNode& key = mapping.children[i];
      if (key.kind == YamlKind::kPlain || key.kind == YamlKind::kQuoted) {
        keys.push_back(&key);
      } else if (key.kind != YamlKind::kRefused) {
        diagnostics_.report(key.at, "a list or mapping stands as a key", "a plain name");
      }
    }
    std::stable_sort(keys.begin(), keys.end(),
                     [](const YamlNode* a, const YamlNode* b) { return a->text < b->text; });
    const YamlNode* first = nullptr;
    for (const YamlNode* key : keys) {
      if (first != nullptr && first->text == key->text) {
        diagnostics_.report(key->at, "key " + in_quotes(key->text) + " is given twice",
                            "each key once (the first is on " + line_of(first->at) + ")");
      } else {
        first = key;
      }
    }
  }

  std::nullopt_t syntax_error() {
    if (parser_->error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    if (parser_->error == YAML_READER_ERROR) {
      const std::size_t offset = std::min(parser_->problem_offset, text_.size());
      diagnostics_.report(position_of_byte(text_, offset),
                          std::string("the text cannot be read: ") + parser_->problem,
                          "UTF-8 without control characters");
      return std::nullopt;
    }
    std::string what = "the YAML is broken: ";
    what += parser_->problem;
    if (parser_->context != nullptr) {
      what += std::string(" ") + parser_->context;
      what += " that begins on " + line_of(position(parser_->context_mark));
    }
    const std::size_t offset = parser_->problem_mark.index;
    const bool tab = offset < text_.size() && text_[offset] == '\t';
    diagnostics_.report(position(parser_->problem_mark), what,
                        tab ? "spaces instead of this tab" : "valid YAML");
    return std::nullopt;
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  Parser parser_;
  std::vector<YamlNode> open_;  ///< the sequences and mappings around the current place
  std::optional<YamlNode> root_;
  std::size_t events_ = 0;
};

}  // namespace

std::optional<YamlNode> read_yaml(std::string_view text, Diagnostics& diagnostics) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return TreeBuilder(text, diagnostics).build();
}

}  // namespace rclrt::model::detail
