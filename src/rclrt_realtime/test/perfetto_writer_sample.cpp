// SPDX-License-Identifier: Apache-2.0
// Writes a trace with every kind of track and event, for perfetto_writer_test.py.
// Usage: perfetto_writer_sample FILE SEQUENCE_ID UUID_BASE
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

#include "rclrt/realtime/perfetto_writer.hpp"

namespace {

using rclrt::realtime::PerfettoTrack;
using rclrt::realtime::PerfettoWriter;

constexpr std::int64_t kStart = 1'000'000'000'000;  // ns
constexpr int kCycles = 1000;                       // enough to fill the writer's buffer
constexpr std::int64_t kPeriod = 1'000'000;         // ns

void write_trace(PerfettoWriter& writer) {
  const PerfettoTrack thread = writer.add_thread_track("worker", 301);
  const PerfettoTrack group = writer.add_track("lanes");
  const PerfettoTrack urgent = writer.add_track("urgent", group);
  const PerfettoTrack relaxed = writer.add_track("relaxed", group);
  const PerfettoTrack pending = writer.add_counter_track("pending", "instances", group);
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    const std::int64_t time = kStart + cycle * kPeriod;
    const auto flow = static_cast<std::uint64_t>(cycle) + 1;
    writer.instant(thread, time, {.name = "release", .category = "timer", .flows = {flow}});
    writer.begin_slice(urgent, time + 10,
                       {.name = "scan",
                        .category = "callback",
                        .flows = {flow},
                        .annotations = {{"instance", cycle}, {"load", 0.25}, {"lane", "urgent"}}});
    writer.counter(pending, time + 10, cycle % 4);
    writer.begin_slice(urgent, time + 20, {.name = "filter", .category = "callback"});
    writer.end_slice(urgent, time + 30);
    writer.end_slice(urgent, time + 40);
    writer.begin_slice(relaxed, time + 50,
                       {.name = "plan \xC3\xA9", .category = "callback", .ended_flows = {flow}});
    writer.end_slice(relaxed, time + 70);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: perfetto_writer_sample FILE SEQUENCE_ID UUID_BASE\n";
    return 2;
  }
  try {
    PerfettoWriter writer(argv[1],
                          {.name = "sample",
                           .pid = 300,
                           .sequence_id = static_cast<std::uint32_t>(std::stoul(argv[2])),
                           .uuid_base = std::stoull(argv[3])},
                          {.monotonic_ns = kStart, .boottime_ns = kStart + 500});
    write_trace(writer);
    writer.finish();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
