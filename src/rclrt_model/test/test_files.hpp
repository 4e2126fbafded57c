// SPDX-License-Identifier: Apache-2.0
// The YAML files of the tests.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace rclrt::model::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<std::filesystem::path> yaml_files(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The applications among the examples.
inline std::vector<std::filesystem::path> example_files() {
  std::vector<std::filesystem::path> files = yaml_files(RCLRT_EXAMPLES_DIR);
  std::erase_if(files, [](const auto& file) { return file.filename() != "app.yaml"; });
  return files;
}

}  // namespace rclrt::model::test
