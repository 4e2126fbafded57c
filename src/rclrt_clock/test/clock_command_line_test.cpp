// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace {

using rclrt::clock::CommandLine;
using rclrt::clock::parse_command_line;

CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rclrt_clock");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

TEST(ClockCommandLine, OptionsAreReadUpToTheArgumentsOfRos) {
  const CommandLine command =
      parse({"--host", "nav", "--period", "50", "--drift", "20", "--seconds", "1.5", "--topic",
             "/clocks", "--ros-args", "--host", "other"});
  EXPECT_EQ(command.settings.host, "nav");
  EXPECT_EQ(command.settings.period, std::chrono::milliseconds(50));
  EXPECT_EQ(command.settings.drift_ppm, 20);
  EXPECT_EQ(command.settings.duration, std::chrono::milliseconds(1500));
  EXPECT_EQ(command.settings.topic, "/clocks");
}

TEST(ClockCommandLine, TheNameOfTheMachineIsTheDefault) {
  EXPECT_FALSE(parse({}).settings.host.empty());
  EXPECT_FALSE(parse({}).settings.duration);
}

TEST(ClockCommandLine, ANameThatIsNoHostIsRefused) {
  for (const std::string& name :
       {std::string("a b"), std::string("\x1b[2J"), std::string(65, 'a')}) {
    EXPECT_THROW(parse({"--host", name.c_str()}), rclrt::text::UsageError) << name;
  }
  EXPECT_THROW(parse({"--drift", "-1"}), rclrt::text::UsageError);
  EXPECT_THROW(parse({"--period", "1"}), rclrt::text::UsageError);
}

}  // namespace
