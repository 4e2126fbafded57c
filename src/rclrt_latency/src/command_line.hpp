// SPDX-License-Identifier: Apache-2.0
// The command line of rclrt_latency.
#pragma once

#include <optional>
#include <rclrt/text/options.hpp>
#include <string>

#include "settings.hpp"

namespace rclrt::latency {

struct CommandLine {
  std::optional<std::string> answer;  ///< what --help or --version prints, instead of a measurement
  Settings settings;
};

/// Throws text::UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::latency
