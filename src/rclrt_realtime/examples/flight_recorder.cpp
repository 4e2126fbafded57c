// SPDX-License-Identifier: Apache-2.0
// A loop sometimes takes too long; then the last seconds of its trace are written to a file.
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "rclrt/realtime/clock.hpp"
#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace rt = rclrt::realtime;

namespace {
void work(std::int64_t duration_ns) {
  const std::int64_t end_ns = rt::monotonic_now_ns() + duration_ns;
  while (rt::monotonic_now_ns() < end_ns) {
  }
}
}  // namespace

int main() {
  constexpr std::int64_t kPeriodNs = 1'000'000;
  rt::FlightRecorder recorder({.directory = std::filesystem::temp_directory_path(),
                               .name = "rclrt_example_flight",
                               .before = std::chrono::milliseconds(500),
                               .after = std::chrono::milliseconds(20)});
  {
    rt::Tracer tracer({recorder});
    const rt::TraceName cycle = tracer.name("cycle");
    const rt::TraceName plan = tracer.name("plan");
    rt::ThreadTracer trace(tracer, "control");

    std::int64_t release_ns = rt::monotonic_now_ns();
    for (int i = 0; i < 100; ++i) {
      rt::sleep_until_ns(release_ns);
      const rt::TraceSpan whole(trace, cycle, {.value = i});
      {
        const rt::TraceSpan span(trace, plan);
        work(i == 50 ? 5 * kPeriodNs : kPeriodNs / 10);
      }
      release_ns += kPeriodNs;
      if (rt::monotonic_now_ns() > release_ns) {
        recorder.request_dump("deadline missed");  // real-time safe: the tracer's thread writes
      }
    }
  }
  const rt::FlightRecorderStatistics statistics = recorder.statistics();
  std::printf("%s: %llu dump(s), %llu more misses in them\n", statistics.last_file.c_str(),
              static_cast<unsigned long long>(statistics.dumps),
              static_cast<unsigned long long>(statistics.merged));
  const bool dumped = statistics.dumps >= 1;
  std::error_code ignored;
  std::filesystem::remove(statistics.last_file, ignored);
  return dumped ? 0 : 1;
}
