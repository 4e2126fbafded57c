// SPDX-License-Identifier: Apache-2.0
#include "rclrt/yaml/file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "rclrt/yaml/document.hpp"

namespace rclrt::yaml {
namespace {

std::string lines(const std::string& file, const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) {
      text += '\n';
    }
    text += to_string(diagnostic, file);
  }
  return text;
}

}  // namespace

FileError::FileError(const std::filesystem::path& file, const std::vector<Diagnostic>& diagnostics)
    : std::runtime_error(lines(file.string(), diagnostics)) {}

std::string read_file(const std::filesystem::path& file, std::string_view kind) {
  const auto fail = [&](const std::string& why) {
    throw FileError(file.string() + ": the file cannot be read: " + why + "; expected a readable " +
                    std::string(kind));
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    fail("it is a directory");
  }
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    fail(std::generic_category().message(errno));
  }
  std::string text(kMaxInputBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) {
    fail(std::generic_category().message(errno));
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace rclrt::yaml
