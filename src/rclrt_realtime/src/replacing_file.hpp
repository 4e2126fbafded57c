// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete.
#pragma once

#include <filesystem>
#include <string_view>

namespace rclrt::realtime {

/// Writes beside `path` and takes its place on commit(). Every error is a std::system_error whose
/// text names `path`. Not thread-safe.
class ReplacingFile {
 public:
  explicit ReplacingFile(std::filesystem::path path);

  /// Without commit() the file is removed and `path` stays as it was.
  ~ReplacingFile();

  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  int descriptor_ = -1;
};

}  // namespace rclrt::realtime
