// SPDX-License-Identifier: Apache-2.0
// A file that appears completely, or not at all.
#pragma once

#include <cstdio>
#include <string>

#include "rclrt/realtime/replacing_file.hpp"

namespace rclrt::timer_study {

/// Writes beside the file, and renames at the end. A file that was not completed is removed.
class OutputFile {
 public:
  /// Throws text::UsageError, with the option in it, if the file cannot be written.
  OutputFile(const std::string& option, std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::FILE* stream() const { return stream_; }

  /// Gives the file its name. Throws realtime::WriteError if not all of it could be written.
  void complete();

 private:
  const std::string path_;
  realtime::ReplacingFile file_;
  std::FILE* stream_ = nullptr;  // on a duplicate of its descriptor
};

}  // namespace rclrt::timer_study
