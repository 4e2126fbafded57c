// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/document.hpp"

#include <algorithm>
#include <utility>

#include "events.hpp"

namespace rclrt::yaml {
namespace {

Kind kind_of(yaml_scalar_style_t style, bool tagged) {
  if (tagged) {
    return Kind::kRefused;
  }
  return style == YAML_PLAIN_SCALAR_STYLE ? Kind::kPlain : Kind::kQuoted;
}

class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, Diagnostics& diagnostics)
      : diagnostics_(diagnostics), events_(text) {}

  std::optional<Node> build() {
    std::size_t count = 0;
    for (;;) {
      const yaml_event_t* event = events_.next();
      if (event == nullptr) {
        events_.report_error(diagnostics_);
        return std::nullopt;
      }
      const Position at = position(event->start_mark);
      if (event->type == YAML_STREAM_END_EVENT) {
        if (!root_) {
          diagnostics_.report({}, "the file is empty", "'rclrt: 1' to begin it");
        }
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
        open_.push_back({Kind::kSequence, at, {}, {}});
        break;
      case YAML_MAPPING_START_EVENT:
        refuse_properties(at, event.data.mapping_start.anchor, event.data.mapping_start.tag);
        open_.push_back({Kind::kMapping, at, {}, {}});
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
        add({Kind::kRefused, at, {}, {}});
        break;
      default:  // begin of the stream, begin and end of the document
        break;
    }
  }

  void add(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().children.push_back(std::move(node));
    }
  }

  void close() {
    Node node = std::move(open_.back());
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

  void check_keys(const Node& mapping) {
    std::vector<const Node*> keys;
    keys.reserve(mapping.children.size() / 2);
    for (std::size_t i = 0; i < mapping.children.size(); i += 2) {
      const Node& key = mapping.children[i];
      if (is_scalar(key)) {
        keys.push_back(&key);
      } else if (key.kind != Kind::kRefused) {
        diagnostics_.report(key.at, "a list or mapping as a key", "a plain name");
      }
    }
    std::stable_sort(keys.begin(), keys.end(),
                     [](const Node* a, const Node* b) { return a->text < b->text; });
    const Node* first = nullptr;
    for (const Node* key : keys) {
      if (first != nullptr && first->text == key->text) {
        diagnostics_.report(key->at, "the key " + in_quotes(key->text) + " is given twice",
                            "each key once (the first is on " + line_of(first->at) + ")");
      } else {
        first = key;
      }
    }
  }

  Diagnostics& diagnostics_;
  Events events_;
  std::vector<Node> open_;  ///< the sequences and mappings around the current position
  std::optional<Node> root_;
};

}  // namespace

bool is_scalar(const Node& node) { return node.kind == Kind::kPlain || node.kind == Kind::kQuoted; }

std::optional<Node> read_yaml(std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > kMaxInputBytes) {
    diagnostics.report({}, "the file is larger than 16 MiB", "at most 16777216 bytes");
    return std::nullopt;
  }
  return TreeBuilder(text, diagnostics).build();
}

}  // namespace rclrt::yaml
