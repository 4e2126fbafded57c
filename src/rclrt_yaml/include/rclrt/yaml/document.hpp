// SPDX-License-Identifier: Apache-2.0
// A small tree of a YAML text in which every value knows where it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/export.hpp"

namespace rclrt::yaml {

/// What a node of the tree is.
enum class Kind : std::uint8_t {
  kPlain,   ///< a scalar without quotes, which may be a number
  kQuoted,  ///< a scalar in quotes or a block text: always a string
  kSequence,
  kMapping,
  kRefused,  ///< an alias or a tagged scalar: reported already, to be passed over in silence
};

/// A value of the tree, and where it stands in the file.
struct Node {
  Kind kind = Kind::kPlain;
  Position at;
  std::string text;            ///< of a scalar
  std::vector<Node> children;  ///< of a sequence; of a mapping: key, value, key, value, ...
};

/// Returns whether it is a text or number: no list, no mapping, nothing refused.
RCLRT_YAML_EXPORT bool is_scalar(const Node& node);

/// Larger texts are refused.
inline constexpr std::size_t kMaxInputBytes = 16U * 1024U * 1024U;

/// Nesting deeper than this is refused, so whoever walks the tree may recurse.
inline constexpr std::size_t kMaxDepth = 32;

/// Bounds the memory that a text of kMaxInputBytes can ask for.
inline constexpr std::size_t kMaxValues = 3'000'000;

/// Reads one document from any bytes. Refuses anchors, aliases, tags, duplicate keys, keys that are
/// not scalars, several documents and what exceeds the limits. No value when there is no whole
/// tree.
RCLRT_YAML_EXPORT std::optional<Node> read_yaml(std::string_view text, Diagnostics& diagnostics);

}  // namespace rclrt::yaml
