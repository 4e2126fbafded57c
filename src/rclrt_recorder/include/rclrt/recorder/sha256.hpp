// SPDX-License-Identifier: Apache-2.0
// SHA-256 of files.
#pragma once

#include <filesystem>
#include <string>

#include "rclrt/recorder/export.hpp"

namespace rclrt::recorder {

/// Returns the SHA-256 of a file's content in 64 lower-case hexadecimal digits. Throws
/// std::system_error with the file's name if the file cannot be read.
RCLRT_RECORDER_EXPORT std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace rclrt::recorder
