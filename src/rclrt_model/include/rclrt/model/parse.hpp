// SPDX-License-Identifier: Apache-2.0
/// Reads and validates app.yaml. Input is untrusted: any bytes give either an application or
/// diagnostics. All functions may be called from several threads at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/model/application.hpp"

namespace rclrt::model {

/// Larger inputs are refused.
inline constexpr std::size_t kMaxInputBytes = 16U * 1024U * 1024U;

/// One problem. Line and column count from 1, columns in characters.
struct Diagnostic {
  std::size_t line{};
  std::size_t column{};
  std::string message;  ///< "what is wrong; expected what"
  bool operator==(const Diagnostic&) const = default;
};

/// Either an application, or at least one diagnostic in the order of the lines. After a thousand
/// problems the last diagnostic says how many more there are.
struct ParseResult {
  std::optional<Application> application;
  std::vector<Diagnostic> diagnostics;
};

/// The text of a file that is not a valid application: one "file:line:column: message" per line.
class ModelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Never throws on bad input (only std::bad_alloc when memory runs out).
ParseResult parse_application(std::string_view yaml);

/// "file:line:column: message"
std::string to_string(const Diagnostic& diagnostic, std::string_view file);

/// Throws ModelError, whose what() is the whole located text, when the file cannot be read or is
/// not a valid application.
Application load_application(const std::filesystem::path& file);

}  // namespace rclrt::model
