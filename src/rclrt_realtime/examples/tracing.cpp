// SPDX-License-Identifier: Apache-2.0
// Traces two threads and writes a file to open at https://ui.perfetto.dev
// Usage: `example_tracing [FILE]`
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "rclrt/realtime/trace_file.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace rt = rclrt::realtime;

int main(int argc, char** argv) {
  const std::filesystem::path path =
      argc > 1 ? argv[1] : std::filesystem::temp_directory_path() / "rclrt_example.pftrace";
  constexpr std::uint32_t kMessages = 1'000;
  rt::TracerStatistics statistics;
  {
    rt::TraceFile file(path, "example");
    rt::Tracer tracer({file});

    // Names become numbers at set-up.
    const rt::TraceName sense = tracer.name("sense", "pipeline");
    const rt::TraceName act = tracer.name("act", "pipeline");
    const rt::TraceName sent = tracer.name("sent", "messages");

    std::thread([&] {
      rt::ThreadTracer trace(tracer, "sensor");  // this thread's ring
      for (std::uint32_t message = 1; message <= kMessages; ++message) {
        const rt::TraceSpan span(trace, sense, {.flow = message});  // until the end of the scope
        trace.counter(sent, message);
      }
    }).join();
    std::thread([&] {
      rt::ThreadTracer trace(tracer, "actuator");
      for (std::uint32_t message = 1; message <= kMessages; ++message) {
        // An arrow leads here from the other span of the same flow.
        const rt::TraceSpan span(trace, act, {.flow = message, .last_of_flow = true});
      }
    }).join();
    tracer.flush();
    statistics = tracer.statistics();
  }  // the tracer ends: the file is complete

  std::printf("%s: %llu events, %llu dropped, times exact within %lld ns\n", path.c_str(),
              static_cast<unsigned long long>(statistics.recorded),
              static_cast<unsigned long long>(statistics.dropped),
              static_cast<long long>(statistics.clock_error_ns));
  const bool complete = statistics.recorded == 3 * kMessages && std::filesystem::exists(path);
  return complete ? 0 : 1;
}
