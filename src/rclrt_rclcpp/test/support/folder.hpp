// SPDX-License-Identifier: Apache-2.0
// A folder for the files of a test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "rclrt/realtime/scheduling.hpp"

namespace rclrt_rclcpp::test {

/// A temporary folder, removed with its content.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rclrt-rclcpp-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  /// Writes a file. FIRST in the text is replaced by the CPU of `on_one_cpu`.
  std::filesystem::path write(const char* name, std::string text) const {
    if (const std::size_t at = text.find("FIRST"); at != std::string::npos) {
      text.replace(at, 5, std::to_string(rclrt::realtime::allowed_cpus().front()));
    }
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rclrt_rclcpp::test
