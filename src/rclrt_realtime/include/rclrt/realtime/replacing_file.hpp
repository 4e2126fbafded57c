// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <string_view>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// Writes a temporary file beside `path`, which replaces `path` on commit(). The temporary file has
/// an unpredictable name and is never opened through a link: files that other users put into the
/// directory are not written to. Every error is a std::system_error that names `path`. Not
/// thread-safe.
class RCLRT_REALTIME_EXPORT ReplacingFile {
 public:
  /// Opens the temporary file. Throws if that is not possible, or if `path` exists and is not a
  /// regular file.
  RCLRT_SETUP explicit ReplacingFile(std::filesystem::path path);

  /// Removes the temporary file unless commit() was called; `path` then stays as it was.
  ~ReplacingFile();

  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  /// Appends the bytes.
  RCLRT_SETUP void write(std::string_view bytes);
  /// Renames the temporary file to `path`; with `to_disk`, first writes it to the disk. Nothing can
  /// be written afterwards.
  RCLRT_SETUP void commit(bool to_disk = true);

  /// Returns the file descriptor, valid until commit(). Use a duplicate of it for a stream of your
  /// own.
  int descriptor() const noexcept RCLRT_NONBLOCKING { return descriptor_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
};

}  // namespace rclrt::realtime
