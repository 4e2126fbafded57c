// SPDX-License-Identifier: Apache-2.0
// Files as texts, and what is said of those that cannot be used.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/export.hpp"

namespace rclrt::yaml {

/// A file that cannot be read or does not hold what it should. Programs print what() and end with
/// exit code 2.
class RCLRT_YAML_EXPORT FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Lists one "file:line:column: message" per line.
  FileError(const std::filesystem::path& file, const std::vector<Diagnostic>& diagnostics);
};

/// Returns the file's bytes, or one more than kMaxInputBytes when it is larger, which read_yaml()
/// refuses. Throws FileError, which then asks for "a readable <kind>", such as "app.yaml".
RCLRT_YAML_EXPORT std::string read_file(const std::filesystem::path& file, std::string_view kind);

}  // namespace rclrt::yaml
