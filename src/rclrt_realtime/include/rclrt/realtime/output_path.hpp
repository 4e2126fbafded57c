// SPDX-License-Identifier: Apache-2.0
// Where a file may be put.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Returns what `path` is, such as "a FIFO" or "a device", if it exists and is not a regular file;
/// otherwise std::nullopt. A program that replaces `path` by renaming a file would destroy such a
/// device. Follows symbolic links. Thread-safe.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::optional<std::string> describe_non_file(
    const std::filesystem::path& path);

}  // namespace rclrt::realtime
