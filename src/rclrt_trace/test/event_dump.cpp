// SPDX-License-Identifier: Apache-2.0
// Prints the events of a trace that rclrt_trace reads, each as a line of JSON: its name, time,
// process, thread, CPU and fields.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <string>

#include "trace_reader.hpp"

namespace {

using namespace rclrt::trace;  // NOLINT(google-build-using-namespace): this is its program

void print(const TraceEvent& event) {
  const auto type = std::ranges::find(kEventTypes, event.kind, &EventType::kind);
  if (type == kEventTypes.end() || type->lists[0] != nullptr) {
    return;  // no event of the trace, or one with lists
  }
  std::printf(R"({"name": "%s", "time": %)" PRId64 R"(, "pid": %)" PRId64 R"(, "tid": %)" PRId64
              R"(, "thread": "%s", "cpu": %d, "fields": {)",
              std::string(type->name).c_str(), event.time_ns, event.pid, event.tid,
              std::string(event.thread).c_str(), event.cpu);
  const char* separator = "";
  for (std::size_t i = 0; i < kMostNumbers; ++i) {
    if (type->numbers[i] != nullptr) {
      std::printf("%s\"%s\": %" PRIu64, separator, type->numbers[i], event.numbers[i]);
      separator = ", ";
    }
  }
  for (std::size_t i = 0; i < kMostTexts; ++i) {
    if (type->texts[i] != nullptr) {
      std::printf("%s\"%s\": \"%s\"", separator, type->texts[i],
                  std::string(event.texts[i]).c_str());
      separator = ", ";
    }
  }
  std::puts("}}");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    read_trace(argc > 1 ? argv[1] : ".", print);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "event_dump: %s\n", error.what());
    return 1;
  }
}
