// SPDX-License-Identifier: Apache-2.0
// Traces every kind of event from two threads into a file, and the same into a flight recorder's
// dump, for trace_file_test.py. Usage: trace_file_sample DIRECTORY
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <thread>

#include "rclrt/realtime/flight_recorder.hpp"
#include "rclrt/realtime/trace_file.hpp"
#include "rclrt/realtime/tracer.hpp"

namespace {

using namespace rclrt::realtime;

constexpr int kCycles = 100;

void control(Tracer& tracer) {
  const TraceName cycle_name = tracer.name("cycle", "control");
  const TraceName read_name = tracer.name("read \xC3\xA9", "control");
  const TraceName queued_name = tracer.name("queued", "messages");
  ThreadTracer thread(tracer, "control");
  for (int cycle = 1; cycle <= kCycles; ++cycle) {
    const TraceSpan whole(thread, cycle_name, {.value = cycle});
    {
      const TraceSpan inner(thread, read_name, {.flow = static_cast<std::uint32_t>(cycle)});
    }
    thread.counter(queued_name, cycle % 4);
  }
}

void plan(Tracer& tracer) {
  const TraceName plan_name = tracer.name("plan");
  const TraceName step_name = tracer.name("step");
  const TraceName done_name = tracer.name("done");
  ThreadTracer thread(tracer, "planner");
  thread.end(plan_name);  // never begun
  for (int cycle = 1; cycle <= kCycles; ++cycle) {
    thread.begin(plan_name, {.flow = static_cast<std::uint32_t>(cycle), .last_of_flow = true});
    thread.begin(step_name);  // never ended by itself
    thread.end(plan_name);
    thread.instant(done_name);
  }
  thread.begin(plan_name);  // still runs
}

/// A ring so small that the drain cannot keep up.
void overflow(Tracer& tracer) {
  ThreadTracer thread(tracer, "busy");
  for (int i = 0; i < 10'000; ++i) {
    thread.instant(tracer.name("tick"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: trace_file_sample DIRECTORY\n";
    return 2;
  }
  try {
    const std::filesystem::path directory(argv[1]);
    TraceFile file(directory / "trace.pftrace", "sample");
    FlightRecorder recorder({.directory = directory});
    Tracer tracer({file, recorder}, {.period = std::chrono::hours(1), .ring_records = 1024});
    std::thread(control, std::ref(tracer)).join();
    tracer.flush();
    std::thread(plan, std::ref(tracer)).join();
    tracer.flush();
    recorder.request_dump("deadline missed");
    std::thread(overflow, std::ref(tracer)).join();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
