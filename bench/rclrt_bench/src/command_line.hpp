// SPDX-License-Identifier: Apache-2.0
// The options of the benchmark.
#pragma once

#include <stdexcept>
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
  bool help = false;
  std::vector<std::string> cases;
  std::vector<std::string> executors;
  std::vector<int> cpus;  ///< one or two
};

/// An error in the user's options; the message names the fix.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

extern const char* const kUsage;

/// Throws UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::bench
