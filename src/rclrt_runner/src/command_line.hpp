// SPDX-License-Identifier: Apache-2.0
// The command line of rclrt_runner.
#pragma once

#include <chrono>
#include <filesystem>
#include <rclrt/model/executor_choice.hpp>
#include <stdexcept>
#include <string>

namespace rclrt::runner {

/// A wrong command line: the message has the fault and what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CommandLine {
  bool help = false;
  bool version = false;
  bool strict = false;
  bool alone = true;  ///< no other program may use the application's topics
  std::filesystem::path application;
  std::filesystem::path priorities;  ///< of callbacks; empty: those of the application
  model::ExecutorChoice executor;
  std::chrono::nanoseconds duration{};
  std::filesystem::path output;
};

extern const char* const kUsage;

/// Arguments from `--ros-args` on are left to rcl. Throws UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::runner
