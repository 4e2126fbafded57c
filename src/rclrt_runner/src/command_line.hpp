// SPDX-License-Identifier: Apache-2.0
// The command line of rclrt_runner.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <rclrt/model/executor_choice.hpp>
#include <rclrt/text/options.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rclrt/recorder/run_stream.hpp"
#include "run.hpp"

namespace rclrt::runner {

struct CommandLine {
  std::optional<std::string> answer{};  ///< what --help or --version prints, instead of a run
  bool strict = false;
  bool alone = true;  ///< no other program may use the application's topics
  std::filesystem::path application;
  std::filesystem::path priorities;  ///< of callbacks; empty: those of the application
  model::ExecutorChoice executor;
  std::chrono::nanoseconds duration{};
  std::uint64_t keep_all = recorder::StreamLimits{}.keep_all;  ///< instances
  std::filesystem::path output;
  std::vector<HostConnection> hosts{};  ///< other hosts of the run
};

/// Returns the executor with this name. Throws std::invalid_argument if it does not run.
model::ExecutorChoice parse_runnable_executor(std::string_view name);

/// Arguments from `--ros-args` on are left to rcl. Throws text::UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::runner
