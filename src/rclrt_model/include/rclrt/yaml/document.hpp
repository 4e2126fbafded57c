// SPDX-License-Identifier: Apache-2.0
// A small tree of a YAML text; every value has its position in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::yaml {

/// The kind of a node of the tree.
enum class Kind : std::uint8_t {
  kPlain,   ///< a scalar without quotes, which may be a number
  kQuoted,  ///< a scalar in quotes or a block text: always a string
  kSequence,
  kMapping,
  kRefused,  ///< an alias or a tagged scalar: already reported, ignore it
};

/// A value of the tree, and its position in the file.
struct Node {
  Kind kind = Kind::kPlain;
  Position at;
  std::string text;            ///< for a scalar
  std::vector<Node> children;  ///< for a sequence; for a mapping: key, value, key, value, ...
};

/// Returns whether the node is a text or number: not a list, not a mapping, not refused.
RCLRT_MODEL_EXPORT bool is_scalar(const Node& node);

/// Larger texts are refused.
inline constexpr std::size_t kMaxInputBytes = 16U * 1024U * 1024U;

/// Deeper nesting is refused, so a function that walks the tree may be recursive.
inline constexpr std::size_t kMaxDepth = 32;

/// Bounds the memory that a text of kMaxInputBytes can require.
inline constexpr std::size_t kMaxValues = 3'000'000;

/// Reads one YAML document; `text` may be any bytes. Reports anchors, aliases, tags, duplicate
/// keys, keys that are not scalars, several documents, and a text that exceeds the limits to
/// `diagnostics`. Returns std::nullopt if there is no complete tree.
RCLRT_MODEL_EXPORT std::optional<Node> read_yaml(std::string_view text, Diagnostics& diagnostics);

}  // namespace rclrt::yaml
