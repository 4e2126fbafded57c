// SPDX-License-Identifier: Apache-2.0
// Events as a Perfetto trace.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "rclrt/realtime/perfetto_writer.hpp"
#include "rclrt/realtime/trace_event.hpp"

namespace rclrt::realtime {

/// Writes trace events to a PerfettoWriter: one track for each thread, one for each counter, and
/// one below each thread that lost records. A track appears with its first event.
class TraceExport {
 public:
  explicit TraceExport(PerfettoWriter& writer) : writer_(writer) {}

  /// Writes the events. Omits an end without a begin. Throws the exceptions of the writer.
  void write(std::span<const TraceEvent> events, const TraceDictionary& dictionary);

 private:
  struct Thread {
    PerfettoTrack track{};
    std::vector<TraceName> open;  // spans begun and not ended, innermost last
  };

  void write(const TraceEvent& event, const TraceDictionary& dictionary);
  void end(Thread& thread, const TraceEvent& event);
  Thread& thread(TraceThread id, const TraceDictionary& dictionary);

  PerfettoWriter& writer_;
  std::map<TraceThread, Thread> threads_;
  std::map<TraceThread, PerfettoTrack> dropped_;
  std::map<TraceName, PerfettoTrack> counters_;
};

}  // namespace rclrt::realtime
