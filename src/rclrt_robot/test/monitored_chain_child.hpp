// SPDX-License-Identifier: Apache-2.0
// The other processes of the chain, as child processes.
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

namespace rclrt_robot::test {

/// A process of the chain, with its output.
class Child {
 public:
  explicit Child(const char* role) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
      throw std::runtime_error("no pipe");
    }
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&files, ends[0]);
    std::string path = "/proc/self/exe";
    std::string role_text = role;
    std::array<char*, 3> arguments{path.data(), role_text.data(), nullptr};
    const int failed = posix_spawn(&pid_, path.c_str(), &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    output_ = ends[0];
    if (failed != 0) {
      throw std::runtime_error("cannot start the process of " + role_text);
    }
  }
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits for the line that it prints, and for its end. Returns the line; empty: it did not end
  /// well. A process that does not end is killed, and reported: Fast DDS may hang there
  /// (Fast-DDS#6513).
  std::string finish() {
    std::string text;
    std::array<char, 256> buffer{};
    for (ssize_t size = 1;
         text.find('\n') == std::string::npos && (size > 0 || (size < 0 && errno == EINTR));) {
      size = read(output_, buffer.data(), buffer.size());
      text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
    int status = 0;
    constexpr int kChecks = 4000;  // 20 s
    for (int check = 0; waitpid(pid_, &status, WNOHANG) == 0; ++check) {
      if (check == kChecks) {
        std::printf("a process that had printed its line did not end and was killed\n");
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    pid_ = 0;
    return status == 0 ? text : "";
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

}  // namespace rclrt_robot::test
