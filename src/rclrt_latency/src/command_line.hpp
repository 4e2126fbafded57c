// SPDX-License-Identifier: Apache-2.0
// The command line of rclrt_latency.
#pragma once

#include <stdexcept>
#include <string>

#include "settings.hpp"

namespace rclrt::latency {

/// A wrong command line: the message has the fault and what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct CommandLine {
  bool help = false;
  bool version = false;
  Settings settings;
};

extern const char* const kUsage;

/// Throws UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::latency
