// SPDX-License-Identifier: Apache-2.0
// why_no_realtime [PRIORITY]: prints why the kernel refuses SCHED_FIFO at a priority, and the fix.
#include <cstdio>
#include <exception>
#include <rclrt/text/options.hpp>

#include "rclrt/realtime/scheduling.hpp"

namespace {

namespace text = rclrt::text;

constexpr int kNo = 1;
constexpr int kBadInput = 2;

text::OptionTable option_table(int& priority) {
  return {
      .program = "why_no_realtime",
      .purpose = "Prints why the kernel refuses SCHED_FIFO at a priority, and the fix.",
      .operands = {text::number("PRIORITY", {}, priority, {1, 99}, "of SCHED_FIFO")},
      .notes = "exit code: 0 the kernel permits it, 1 it refuses it, 2 bad input",
  };
}

}  // namespace

int main(int argc, char** argv) {
  int priority = 99;
  try {
    const auto parsed = text::parse_options(option_table(priority), argc, argv);
    if (parsed.answer) {
      std::fputs(parsed.answer->c_str(), stdout);
      return 0;
    }
    if (const auto reason = rclrt::realtime::why_no_realtime(priority)) {
      std::printf("%s\n", reason->c_str());
      return kNo;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "why_no_realtime: %s\n", error.what());
    return kBadInput;
  }
  return 0;
}
