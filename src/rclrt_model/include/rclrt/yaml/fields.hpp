// SPDX-License-Identifier: Apache-2.0
// Reads YAML mappings and lists against a schema: the keys that a mapping may and must have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/document.hpp"
#include "rclrt/yaml/suggest.hpp"

namespace rclrt::yaml {

/// The state that all readers of one file share.
struct Context {
  Diagnostics diagnostics;
  Suggester suggester;
};

/// Reports that the value of a node is wrong: "<what> is <the node>; expected ...". Reports nothing
/// for a node with a problem that was reported before.
RCLRT_MODEL_EXPORT void report_value(const Node& node, std::string_view what,
                                     std::string_view expected, Context& context);

/// A mapping and the keys it may have.
class RCLRT_MODEL_EXPORT Fields {
 public:
  /// Reads a mapping. Reports a node that is not a mapping, and keys that are not in `known`.
  /// `what` is the name of the mapping in messages, such as "callback".
  Fields(const Node& node, std::string_view what, std::vector<std::string_view> known,
         Context& context);

  /// Returns nullptr when the key is absent.
  const Node* find(std::string_view key) const;

  /// Finds as find() does, and reports an absent key with the example, such as "wcet_ms: 2.5".
  const Node* require(std::string_view key, std::string_view example) const;

  /// Returns whether a reported unknown key is similar to this one.
  bool is_misspelt(std::string_view key) const;

  /// Returns whether the node is a mapping without unknown keys.
  bool sound() const { return sound_; }

 private:
  const Node& node_;
  std::string what_;
  Context& context_;
  std::vector<std::string_view> misspelt_;
  bool sound_ = true;
};

/// Returns the items of a list. Reports any other node and returns an empty list.
RCLRT_MODEL_EXPORT const std::vector<Node>& read_list(const Node& node, std::string_view what,
                                                      Context& context);

/// Reads as read_list() does, and reports an empty list.
RCLRT_MODEL_EXPORT const std::vector<Node>& read_filled_list(const Node& node,
                                                             std::string_view what,
                                                             Context& context);

}  // namespace rclrt::yaml
