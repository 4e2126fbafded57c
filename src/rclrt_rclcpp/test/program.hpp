// SPDX-License-Identifier: Apache-2.0
// A program of the package in a process of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {

class Program {
 public:
  /// Starts what the environment variable names; what it says goes to a file.
  explicit Program(const char* variable, std::vector<std::string> arguments = {})
      : output_(std::filesystem::temp_directory_path() /
                ("rclrt_rclcpp_" + std::string(variable) + "_" + std::to_string(getpid()))) {
    const char* const path = std::getenv(variable);
    if (path == nullptr) {
      ADD_FAILURE() << variable << " is not set: run the test through ctest";
      return;
    }
    arguments.insert(arguments.begin(), path);
    std::vector<char*> argv;
    for (std::string& each : arguments) {
      argv.push_back(each.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    EXPECT_EQ(posix_spawn(&pid_, path, &files, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&files);
  }
  ~Program() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    std::filesystem::remove(output_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void signal(int number) const { kill(pid_, number); }

  /// Its exit code; none: it was ended by a signal, or did not end.
  std::optional<int> exit_code() {
    int status = 0;
    if (pid_ <= 0 || !eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) {
      return std::nullopt;
    }
    pid_ = 0;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

  std::string output() const {
    std::ostringstream text;
    text << std::ifstream(output_).rdbuf();
    return text.str();
  }

 private:
  const std::filesystem::path output_;
  pid_t pid_ = 0;
};

}  // namespace rclrt_rclcpp::test
