// SPDX-License-Identifier: Apache-2.0
#include "rclrt/model/parse.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "checks.hpp"
#include "reader.hpp"
#include "yaml_document.hpp"

namespace rclrt::model {
namespace {

constexpr std::string_view kTooLarge = "the file is larger than 16 MiB";

/// The file's bytes, or one more than allowed when it is too large.
std::string read_file(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    throw ModelError(file.string() + ": the file cannot be read: " + why +
                     "; expected a readable app.yaml");
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail("it is a directory");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(std::generic_category().message(errno));
  std::string text(kMaxInputBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) fail(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace

ParseResult parse_application(std::string_view yaml) {
  detail::Context context;
  ParseResult result;
  if (yaml.size() > kMaxInputBytes) {
    context.diagnostics.report({}, kTooLarge, "at most 16777216 bytes");
  } else if (const auto root = detail::read_yaml(yaml, context.diagnostics)) {
    detail::Draft draft = detail::read_application(*root, context);
    detail::check_application(draft, context);
    if (context.diagnostics.empty()) result.application = std::move(draft.application);
  }
  result.diagnostics = context.diagnostics.take();
  return result;
}

std::string to_string(const Diagnostic& diagnostic, std::string_view file) {
  return std::string(file) + ":" + std::to_string(diagnostic.line) + ":" +
         std::to_string(diagnostic.column) + ": " + diagnostic.message;
}

Application load_application(const std::filesystem::path& file) {
  ParseResult result = parse_application(read_file(file));
  if (result.application) return std::move(*result.application);
  std::string text;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (!text.empty()) text += '\n';
    text += to_string(diagnostic, file.string());
  }
  throw ModelError(text);
}

}  // namespace rclrt::model
