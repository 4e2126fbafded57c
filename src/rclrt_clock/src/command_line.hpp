// SPDX-License-Identifier: Apache-2.0
// The command line of rclrt_clock.
#pragma once

#include <chrono>
#include <optional>
#include <rclrt/text/options.hpp>
#include <string>

#include "rclrt/realtime/clock_offset.hpp"

namespace rclrt::clock {

/// The options of the program.
struct Settings {
  std::string host;
  std::string topic = "/rclrt/clock";
  std::chrono::nanoseconds period = std::chrono::milliseconds(200);
  std::chrono::nanoseconds report = std::chrono::seconds(1);
  std::optional<std::chrono::nanoseconds> duration;
  double drift_ppm = realtime::ClockOffset::kQuartzPpm;
};

struct CommandLine {
  std::optional<std::string> answer;  ///< what --help or --version prints, instead of running
  Settings settings;
};

/// Reads the options, up to --ros-args. Throws text::UsageError.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace rclrt::clock
