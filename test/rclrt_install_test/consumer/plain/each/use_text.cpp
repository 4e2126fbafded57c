// SPDX-License-Identifier: Apache-2.0
// Prints a number from a text, and the error of a wrong command line.
#include <cstdio>
#include <rclrt/text/number.hpp>
#include <rclrt/text/options.hpp>
#include <string>
#include <vector>

int main() {
  std::printf("%d\n", *rclrt::text::parse_number<int>("42"));
  int priority = 80;
  const rclrt::text::OptionTable table{
      .program = "use_text",
      .purpose = "Tests the installed library.",
      .options = {rclrt::text::number("--priority", "N", priority, {1, 99}, "of SCHED_FIFO")}};
  try {
    rclrt::text::parse_options(table, std::vector<std::string>{"--priority", "100"});
  } catch (const rclrt::text::UsageError& error) {
    std::printf("%s\n", error.what());
  }
}
