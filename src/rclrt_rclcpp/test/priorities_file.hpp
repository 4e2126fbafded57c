// SPDX-License-Identifier: Apache-2.0
// A priorities file of a test.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {

class PrioritiesFile : public Ros {
 protected:
  std::filesystem::path write(const std::string& text) {
    file_ = std::filesystem::temp_directory_path() /
            ("rclrt_rclcpp_priorities_" + std::to_string(getpid()) + ".yaml");
    std::ofstream(file_) << text;
    return file_;
  }
  ~PrioritiesFile() override {
    if (!file_.empty()) {
      std::filesystem::remove(file_);
    }
  }
  static int priority_of(Executor& executor, const std::string& kind, const std::string& name,
                         std::size_t group = 0) {
    for (const CallbackInfo& each : executor.callbacks()) {
      if (each.kind == kind && each.name == name && each.group == group) {
        return each.priority;
      }
    }
    return -1;
  }

 private:
  std::filesystem::path file_;
};

}  // namespace rclrt_rclcpp::test
