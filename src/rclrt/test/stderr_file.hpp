// SPDX-License-Identifier: Apache-2.0
// The output of this process on standard error, readable while it runs.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace rclrt::test {

/// While it exists, standard error goes to a file without a name.
class StderrFile {
 public:
  StderrFile() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~StderrFile() {
    std::fflush(stderr);
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  StderrFile(const StderrFile&) = delete;
  StderrFile& operator=(const StderrFile&) = delete;

  /// Returns everything so far.
  std::string text() const {
    std::string result(1 << 16, '\0');
    const auto size = pread(fileno(file_), result.data(), result.size(), 0);
    result.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return result;
  }
  bool contains(const std::string& part) const { return text().find(part) != std::string::npos; }
  std::size_t count(const std::string& part) const {
    const std::string all = text();
    std::size_t result = 0;
    for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) {
      ++result;
    }
    return result;
  }

 private:
  std::FILE* const file_;
  const int before_;
};

}  // namespace rclrt::test
