// SPDX-License-Identifier: Apache-2.0
// A program of the package in its own process.
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
#include <system_error>
#include <vector>

#include "fixture.hpp"

namespace rclrt_rclcpp::test {

class Program {
 public:
  /// Starts the program that the environment variable names; its output goes to a file.
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

  /// Returns its exit code; none: a signal ended it, or it did not end within this time.
  std::optional<int> exit_code(std::chrono::seconds within = 20s) {
    int status = 0;
    const auto has_ended = [&] { return waitpid(pid_, &status, WNOHANG) == pid_; };
    if (pid_ <= 0 || !eventually(has_ended, within)) {
      return std::nullopt;
    }
    pid_ = 0;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

  /// Returns the nice values of its threads with this beginning of the name, from /proc.
  std::vector<int> nice_values(const std::string& name_begins) const {
    std::vector<int> result;
    std::error_code ended;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid_) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, ended)) {
      std::string stat;
      std::getline(std::ifstream(task.path() / "stat"), stat);
      const std::size_t name = stat.find('(');
      const std::size_t end = stat.rfind(") ");
      if (end == std::string::npos ||
          stat.compare(name + 1, name_begins.size(), name_begins) != 0) {
        continue;
      }
      std::istringstream fields(stat.substr(end + 2));
      std::string field;
      for (int number = 3; number <= 19 && fields >> field; ++number) {  // proc(5): 19 is nice
      }
      result.push_back(std::stoi(field));
    }
    return result;
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
