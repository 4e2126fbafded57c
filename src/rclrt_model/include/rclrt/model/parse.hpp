// SPDX-License-Identifier: Apache-2.0
// Reads and validates app.yaml. Input is untrusted: any bytes give either an application or
// diagnostics. All functions may be called from several threads at once.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"
#include "rclrt/model/export.hpp"
#include "rclrt/yaml/diagnostics.hpp"
#include "rclrt/yaml/document.hpp"
#include "rclrt/yaml/file.hpp"

namespace rclrt::model {

using yaml::Diagnostic;
using yaml::kMaxInputBytes;
using yaml::to_string;  // "file:line:column: message"

/// The text of a file with an invalid application: one "file:line:column: message" per line.
using ModelError = yaml::FileError;

/// The result of parsing: either an application, or at least one diagnostic, in the order of the
/// lines. After a thousand diagnostics, one last diagnostic states how many more there are.
struct ParseResult {
  std::optional<Application> application;
  std::vector<Diagnostic> diagnostics;
};

/// Parses a file's text; does not throw on bad input (only std::bad_alloc when memory runs out).
RCLRT_MODEL_EXPORT ParseResult parse_application(std::string_view text);

/// Loads an application from an app.yaml. Throws ModelError if the file cannot be read or is not a
/// valid application; what() has one "file:line:column: message" per mistake.
RCLRT_MODEL_EXPORT Application load_application(const std::filesystem::path& file);

}  // namespace rclrt::model
