// SPDX-License-Identifier: Apache-2.0
#include "yaml.hpp"

#include <cstdint>
#include <rclrt/text/number.hpp>
#include <utility>

#include "rclrt/model/file_kind.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/yaml/document.hpp"
#include "rclrt/yaml/file.hpp"

namespace py = pybind11;

namespace rclrt::model::detail {

namespace {

/// Converts a scalar without quotes by the core schema of YAML 1.2, without inf and nan.
py::object plain_to_python(const std::string& text) {
  if (text.empty() || text == "~" || text == "null") {
    return py::none();
  }
  if (text == "true" || text == "false") {
    return py::bool_(text == "true");
  }
  if (const auto integer = text::parse_number<std::int64_t>(text)) {
    return py::int_(*integer);
  }
  const auto real = text::parse_number<double>(text);
  return real ? py::object(py::float_(*real)) : py::object(py::str(text));
}

py::object to_python(const yaml::Node& node) {
  switch (node.kind) {
    case yaml::Kind::kPlain:
      return plain_to_python(node.text);
    case yaml::Kind::kSequence: {
      py::list items;
      for (const yaml::Node& child : node.children) {
        items.append(to_python(child));
      }
      return items;
    }
    case yaml::Kind::kMapping: {
      py::dict items;
      for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
        items[py::str(node.children[i].text)] = to_python(node.children[i + 1]);
      }
      return items;
    }
    default:
      return py::str(node.text);
  }
}

/// Returns the tree of a text; std::nullopt if it has mistakes.
std::optional<yaml::Node> tree_of(std::string_view text) {
  yaml::Diagnostics diagnostics;
  auto root = yaml::read_yaml(text, diagnostics);
  return diagnostics.empty() ? std::move(root) : std::nullopt;
}

/// Throws ModelError if the file at `path` is of another kind than the one named `expected`.
void refuse(const yaml::Node& root, const std::filesystem::path& path,
            const std::string& expected) {
  yaml::Context context;
  if (report_other_kind(root, file_kind_named(expected), context)) {
    throw ModelError(path, context.diagnostics.take());
  }
}

}  // namespace

py::object read_document(const std::filesystem::path& path, const std::string& kind,
                         const std::optional<std::string>& expected) {
  yaml::Diagnostics diagnostics;
  const auto root = yaml::read_yaml(yaml::read_file(path, kind), diagnostics);
  if (expected && root && diagnostics.empty()) {
    refuse(*root, path, *expected);
  }
  if (!root || !diagnostics.empty()) {
    throw ModelError(path, diagnostics.take());
  }
  return to_python(*root);
}

void refuse_other_kind(std::string_view text, const std::filesystem::path& path,
                       const std::string& expected) {
  if (const auto root = tree_of(text)) {
    refuse(*root, path, expected);
  }
}

std::optional<std::string> described_kind(const std::filesystem::path& path) {
  try {
    const auto root = tree_of(yaml::read_file(path, "file"));
    const auto kind = root ? file_kind(*root) : std::nullopt;
    return kind ? std::optional(describe(*kind)) : std::nullopt;
  } catch (const yaml::FileError&) {
    return std::nullopt;
  }
}

}  // namespace rclrt::model::detail
