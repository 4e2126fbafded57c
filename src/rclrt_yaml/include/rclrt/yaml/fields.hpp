// SPDX-License-Identifier: Apache-2.0
// Reading of YAML mappings and lists against a schema: which keys a mapping may and must have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/document.hpp"
#include "rclrt/yaml/export.hpp"
#include "rclrt/yaml/suggest.hpp"

namespace rclrt::yaml {

/// What all readers of one file share.
struct Context {
  Diagnostics diagnostics;
  Suggester suggester;
};

/// Reports "<what> is <the node>; expected ...". Says nothing of nodes that are refused already.
RCLRT_YAML_EXPORT void report_value(const Node& node, std::string_view what,
                                    std::string_view expected, Context& context);

/// A mapping and the keys it may have.
class RCLRT_YAML_EXPORT Fields {
 public:
  /// Reports a node that is no mapping, and keys that are not known. `what` names the mapping in
  /// messages, such as "callback".
  Fields(const Node& node, std::string_view what, std::vector<std::string_view> known,
         Context& context);

  /// Returns nullptr when the key is absent.
  const Node* find(std::string_view key) const;

  /// Finds as find() does, and reports an absent key; the example is shown, such as "wcet_ms: 2.5".
  const Node* require(std::string_view key, std::string_view example) const;

  /// Returns whether an unknown key that was reported looks like this one.
  bool is_misspelt(std::string_view key) const;

  /// Returns whether it is a mapping without unknown keys.
  bool sound() const { return sound_; }

 private:
  const Node& node_;
  std::string what_;
  Context& context_;
  std::vector<std::string_view> misspelt_;
  bool sound_ = true;
};

/// Returns the items of a list; reports anything else and gives none.
RCLRT_YAML_EXPORT const std::vector<Node>& read_list(const Node& node, std::string_view what,
                                                     Context& context);

/// Reads as read_list() does, and reports an empty list.
RCLRT_YAML_EXPORT const std::vector<Node>& read_filled_list(const Node& node, std::string_view what,
                                                            Context& context);

}  // namespace rclrt::yaml
