// SPDX-License-Identifier: Apache-2.0
#include "yaml_document.hpp"

#include <algorithm>
#include <utility>

#include "yaml_events.hpp"

namespace rclrt::model::detail {
namespace {

YamlKind kind_of(yaml_scalar_style_t style, bool tagged) {
  if (tagged) return YamlKind::kRefused;
  return style == YAML_PLAIN_SCALAR_STYLE ? YamlKind::kPlain : YamlKind::kQuoted;
}

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), events_(text) {}

  std::optional<YamlNode> build() {
    std::size_t count = 0;
    for (;;) {
      const yaml_event_t* event = events_.next();
      if (event == nullptr) {
        events_.report_error(diagnostics_);
        return std::nullopt;
      }
      const Position at = position(event->start_mark);
      if (event->type == YAML_STREAM_END_EVENT) {
        if (!root_) diagnostics_.report({}, "the file is empty", "'rclrt: 1' to begin it");
        return std::move(root_);
      }
      if (event->type == YAML_DOCUMENT_START_EVENT && root_) {
        diagnostics_.report(at, "a second document begins here", "one document in the file");
        return std::move(root_);
      }
      take(*event, at);
      if (open_.size() > kMaxDepth) {
        diagnostics_.report(at, "the nesting is too deep",
                            "at most " + std::to_string(kMaxDepth) + " levels");
        return std::nullopt;
      }
      if (++count > kMaxValues) {
        diagnostics_.report(at, "the file holds too many values",
                            "at most " + std::to_string(kMaxValues));
        return std::nullopt;
      }
    }
  }

 private:
  void take(const yaml_event_t& event, Position at) {
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        const auto& scalar = event.data.scalar;
        refuse_properties(at, scalar.anchor, scalar.tag);
        add({kind_of(scalar.style, scalar.tag != nullptr),
             at,
             std::string(reinterpret_cast<const char*>(scalar.value), scalar.length),
             {}});
        break;
      }
      case YAML_SEQUENCE_START_EVENT:
        refuse_properties(at, event.data.sequence_start.anchor, event.data.sequence_start.tag);
        open_.push_back({YamlKind::kSequence, at, {}, {}});
        break;
      case YAML_MAPPING_START_EVENT:
        refuse_properties(at, event.data.mapping_start.anchor, event.data.mapping_start.tag);
        open_.push_back({YamlKind::kMapping, at, {}, {}});
        break;
      case YAML_MAPPING_END_EVENT:
        check_keys(open_.back());
        close();
        break;
      case YAML_SEQUENCE_END_EVENT:
        close();
        break;
      case YAML_ALIAS_EVENT:
        diagnostics_.report(at, "aliases ('*name') are not supported", "the value itself");
        add({YamlKind::kRefused, at, {}, {}});
        break;
      default:  // begin of the stream, begin and end of the document
        break;
    }
  }

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
      if (is_scalar(key)) {
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
        diagnostics_.report(key->at, "the key " + in_quotes(key->text) + " is given twice",
                            "each key once (the first is on " + line_of(first->at) + ")");
      } else {
        first = key;
      }
    }
  }

  Diagnostics& diagnostics_;
  YamlEvents events_;
  std::vector<YamlNode> open_;  ///< the sequences and mappings around the current place
  std::optional<YamlNode> root_;
};

}  // namespace

bool is_scalar(const YamlNode& node) {
  return node.kind == YamlKind::kPlain || node.kind == YamlKind::kQuoted;
}

std::optional<YamlNode> read_yaml(std::string_view text, Diagnostics& diagnostics) {
  return TreeBuilder(text, diagnostics).build();
}

}  // namespace rclrt::model::detail
