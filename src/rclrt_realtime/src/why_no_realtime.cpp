// SPDX-License-Identifier: Apache-2.0
// why_no_realtime [PRIORITY]: prints why the kernel refuses SCHED_FIFO at a priority, and the fix.
// Exit code 0: the kernel permits it; 1: the kernel refuses it; 2: the argument is no priority.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>

#include "rclrt/realtime/scheduling.hpp"

int main(int argc, char** argv) {
  constexpr int kNo = 1;
  constexpr int kBadInput = 2;
  int priority = 99;
  if (argc > 1) {
    const char* const end = argv[1] + std::strlen(argv[1]);
    const auto [read, error] = std::from_chars(argv[1], end, priority);
    if (argc > 2 || error != std::errc() || read != end || priority < 1 || priority > 99) {
      std::fprintf(stderr, "usage: why_no_realtime [PRIORITY]; expected a priority from 1 to 99\n");
      return kBadInput;
    }
  }
  try {
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
