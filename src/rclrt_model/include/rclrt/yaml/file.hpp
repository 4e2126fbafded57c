// SPDX-License-Identifier: Apache-2.0
// Files as texts, and the errors of files that cannot be used.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/export.hpp"
#include "rclrt/yaml/diagnostics.hpp"

namespace rclrt::yaml {

/// The error if a file cannot be read or its content is wrong. Programs print what() and end with
/// exit code 2.
class RCLRT_MODEL_EXPORT FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Lists one "file:line:column: message" per line.
  FileError(const std::filesystem::path& file, const std::vector<Diagnostic>& diagnostics);
};

/// Returns the content of the file. If the file is larger than kMaxInputBytes, returns one byte
/// more than that, which read_yaml() refuses. Throws FileError if the file cannot be read. `kind`
/// is the kind of the file in the message, such as "app.yaml": "expected a readable app.yaml".
RCLRT_MODEL_EXPORT std::string read_file(const std::filesystem::path& file, std::string_view kind);

}  // namespace rclrt::yaml
