// SPDX-License-Identifier: Apache-2.0
// Files as texts, and the errors of files that cannot be used.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/model/export.hpp"

namespace rclrt::yaml {

/// The error for a file that cannot be read or has wrong content. Programs print what() and end
/// with exit code 2.
class RCLRT_MODEL_EXPORT FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Lists one "file:line:column: message" per line.
  FileError(const std::filesystem::path& file, const std::vector<Diagnostic>& diagnostics);
};

/// Returns the bytes of the file. For a larger file, returns one byte more than kMaxInputBytes,
/// which read_yaml() refuses. Throws FileError, which expects "a readable <kind>", such as
/// "app.yaml".
RCLRT_MODEL_EXPORT std::string read_file(const std::filesystem::path& file, std::string_view kind);

}  // namespace rclrt::yaml
