// SPDX-License-Identifier: Apache-2.0
#include "file_kind.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace rclrt::model::detail {

namespace {

/// Returns the value of a key, or nullptr.
const YamlNode* value_of(const YamlNode& mapping, std::string_view key) {
  for (std::size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    if (mapping.children[i].text == key) {
      return &mapping.children[i + 1];
    }
  }
  return nullptr;
}

bool has_any(const YamlNode& mapping, std::initializer_list<std::string_view> keys) {
  return std::ranges::any_of(
      keys, [&](std::string_view key) { return value_of(mapping, key) != nullptr; });
}

/// Returns whether the file names callbacks as the ROS graph does and states no execution times: it
/// is a node priorities file or a robot.yaml, and no app.yaml.
bool has_node_timings(const YamlNode& root) {
  const YamlNode* const list = value_of(root, "callbacks");
  return list != nullptr && list->kind == YamlKind::kSequence && !list->children.empty() &&
         std::ranges::all_of(list->children, [](const YamlNode& item) {
           const YamlNode* const node =
               item.kind == YamlKind::kMapping ? value_of(item, "node") : nullptr;
           return node != nullptr && node->text.starts_with('/') &&
                  !has_any(item, {"id", "wcet_ms"});
         });
}

/// Returns the kind of which the file has keys, if it has keys of one kind only.
std::optional<FileKind> kind_of(const YamlNode& root) {
  if (root.kind != YamlKind::kMapping) {
    return std::nullopt;
  }
  const std::array has{
      has_any(root, {"name", "description", "nodes", "topics", "chains"}),
      has_any(root, {"executor", "recording", "monitor", "memory", "write_priorities"}) ||
          has_node_timings(root),
      has_any(root, {"processes"}), has_any(root, {"priorities"})};
  if (std::ranges::count(has, true) != 1) {
    return std::nullopt;
  }
  return static_cast<FileKind>(std::ranges::find(has, true) - has.begin());
}

std::string_view describe(FileKind kind) {
  switch (kind) {
    case FileKind::kApplication:
      return "an app.yaml, which describes an application";
    case FileKind::kRobot:
      return "a robot.yaml, which configures a process of rclcpp nodes";
    case FileKind::kHost:
      return "a configuration of all processes of a host";
    case FileKind::kOverlay:
      break;
  }
  return "a priorities file, which is for one application";
}

/// Returns the expected file, and how to get it from the one that was found.
std::string_view describe_expected(FileKind expected, FileKind found) {
  switch (expected) {
    case FileKind::kApplication:
      return "an app.yaml with 'nodes', 'callbacks' and 'chains': `rclrt model` writes one from a "
             "trace or a recording of the robot";
    case FileKind::kRobot:
      return found == FileKind::kHost
                 ? "a robot.yaml, or the name of one of these processes beside the file"
                 : "a robot.yaml: `rclrt synthesize app.yaml --nodes -o robot.yaml` writes one";
    case FileKind::kHost:
      return "a file with 'processes', each with a 'name' and the sections of a robot.yaml";
    case FileKind::kOverlay:
      break;
  }
  return "a priorities file: `rclrt synthesize app.yaml -o priorities.yaml` writes one";
}

}  // namespace

bool report_other_kind(const YamlNode& root, FileKind expected, Context& context) {
  const std::optional<FileKind> found = kind_of(root);
  if (!found || *found == expected) {
    return false;
  }
  context.diagnostics.report(root.at, "this is " + std::string(describe(*found)),
                             std::string(describe_expected(expected, *found)));
  return true;
}

}  // namespace rclrt::model::detail
