// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "rclrt/realtime/export.hpp"
#include "rclrt/realtime/safety.hpp"

namespace rclrt::realtime {

/// A file that cannot be written: the text has its place, the reason and the fix.
class RCLRT_REALTIME_EXPORT WriteError : public std::system_error {
 public:
  /// Makes an error of which what() returns `text`.
  RCLRT_SETUP WriteError(std::error_code code, std::string text);
  /// Returns the text.
  RCLRT_SETUP const char* what() const noexcept override;

 private:
  std::shared_ptr<const std::string> text_;  // shared: a copy of an exception must not throw
};

/// Returns the path of a temporary file or directory that is to replace `path` later. It is in the
/// same directory, and its name cannot be predicted. Creates nothing. Thread-safe. Throws
/// WriteError.
RCLRT_REALTIME_EXPORT RCLRT_SETUP std::filesystem::path partial_name(
    const std::filesystem::path& path);

/// Writes a file so that it is complete or does not appear: a temporary file beside `path` replaces
/// `path` on commit(). The temporary file has a name that cannot be predicted, and is never opened
/// through a link, so it is not possible that another user's file is written instead. Every error
/// is a WriteError. Not thread-safe.
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
  /// Returns a stream that appends to the file. Use it or write(), not both. If a write fails, the
  /// stream is bad and commit() throws.
  RCLRT_SETUP std::ostream& stream();
  /// Renames the temporary file to `path`; with `to_disk`, first writes it to the disk. Nothing can
  /// be written afterwards.
  RCLRT_SETUP void commit(bool to_disk = true);

  /// Returns the file descriptor, valid until commit(). Use a duplicate of it for a stream of your
  /// own.
  int descriptor() const noexcept RCLRT_NONBLOCKING { return descriptor_; }

 private:
  class Stream;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
  std::unique_ptr<Stream> stream_;  // none until it is used
};

}  // namespace rclrt::realtime
