// SPDX-License-Identifier: Apache-2.0
// The command line of an exercise.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <rclrt/text/options.hpp>
#include <string>

namespace rclrt::demos {

/// The description of an exercise, for its help and its results.
struct Exercise {
  const char* name;      ///< "2-1"
  const char* baseline;  ///< the flaw, in a line
  const char* solution;  ///< its fix, in a line
  int priority;          ///< the highest SCHED_FIFO priority that it needs
  bool takes_threads = false;
  const char* client = "";  ///< the client library, if it is another than rclrt
};

/// The command line of an exercise.
struct Options {
  std::optional<std::string> answer{};  ///< what --help or --version prints, instead of a run
  bool solution = false;
  std::chrono::nanoseconds duration = std::chrono::seconds(10);
  std::filesystem::path json{};   ///< empty: no file
  std::filesystem::path trace{};  ///< empty: no file
  std::size_t threads = 0;        ///< 0: the exercise's own number
};

/// Reads the arguments after the program's name. Throws text::UsageError.
Options parse_options(const Exercise& exercise, int argc, const char* const* argv);

}  // namespace rclrt::demos
