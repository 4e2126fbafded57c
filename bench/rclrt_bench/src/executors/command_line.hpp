// SPDX-License-Identifier: Apache-2.0
// The options of the benchmark.
#pragma once

#include <optional>
#include <rclrt/text/options.hpp>
#include <string>
#include <vector>

namespace rclrt::bench {

struct CommandLine {
  int samples = 0;
  int warm_up = 0;
  int rounds = 0;
  double seconds = 0;
  bool quick = false;
  bool quiet = false;
  std::optional<std::string> answer{};  ///< what --help or --version prints, instead of a run
  std::vector<std::string> cases;
  std::vector<std::string> executors;
  std::vector<int> cpus;  ///< one or two
};

/// Throws text::UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::bench
