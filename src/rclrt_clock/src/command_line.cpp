// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "identity.hpp"

namespace rclrt::clock {

namespace {

text::OptionTable option_table(Settings& to) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return {
      .program = "rclrt_clock",
      .purpose =
          "Measures the offsets of other hosts' clocks by pings over ROS 2, and answers their "
          "pings.\nWrites a JSON document on each line.",
      .options =
          {
              text::custom(
                  "--host", "NAME", "a name of 1 to 64 letters, digits, '.', '_' and '-'",
                  [&to](std::string_view name) {
                    to.host = name;
                    return is_host_name(name);
                  },
                  "of this host; default: the name of the machine"),
              text::duration("--period", "MS", to.period, milliseconds(1), {10, 60'000},
                             "between the pings of this host"),
              text::number("--drift", "PPM", to.drift_ppm, {0, realtime::ClockOffset::kMaxDriftPpm},
                           "the largest frequency error of each clock, in millionths"),
              text::duration("--report", "MS", to.report, milliseconds(1), {10, 60'000},
                             "between the lines of a peer"),
              text::duration("--seconds", "S", to.duration, seconds(1), {0.01, 86'400},
                             "how long to run; default: until a signal"),
              text::text("--topic", "NAME", to.topic, "on which the hosts meet"),
          },
      .notes = "exit code: 0, also after SIGINT; 1 on a failure of ROS 2; 2 bad input",
      .until = "--ros-args",
  };
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  Settings& settings = result.settings;
  result.answer = text::parse_options(option_table(settings), argc, argv).answer;
  if (settings.host.empty()) {
    settings.host = this_host();
    if (!result.answer && !is_host_name(settings.host)) {
      throw text::UsageError("the machine's name '" + settings.host +
                             "' has other characters than letters, digits, '.', '_' and '-'; "
                             "expected --host NAME");
    }
  }
  return result;
}

}  // namespace rclrt::clock
