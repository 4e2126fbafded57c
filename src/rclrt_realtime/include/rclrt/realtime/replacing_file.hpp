// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <string_view>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Writes beside `path` and takes its place on commit(). The file beside it has a name that nobody
/// can foresee, and is never opened through a link: what others put into the directory is not
/// written to. Every error is a std::system_error whose text names `path`. Not thread-safe.
class RCLRT_REALTIME_EXPORT ReplacingFile {
 public:
  /// Opens the file beside `path`. Throws if that is not possible, or `path` exists and is not a
  /// regular file.
  RCLRT_SETUP explicit ReplacingFile(std::filesystem::path path);

  /// Removes the file unless commit() was called; `path` stays as it was then.
  ~ReplacingFile();

  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  /// Appends the bytes.
  RCLRT_SETUP void write(std::string_view bytes);
  /// Writes everything to the disk and renames the file to `path`. Nothing can be written after it.
  RCLRT_SETUP void commit(bool to_disk = true);

  /// Returns the file descriptor, valid until commit(): for a stream of your own on a duplicate.
  int descriptor() const noexcept RCLRT_NONBLOCKING { return descriptor_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
};

}  // namespace rclrt::realtime
