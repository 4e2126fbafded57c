// SPDX-License-Identifier: Apache-2.0
#include "trace_export.hpp"

#include <algorithm>

namespace rclrt::realtime {

namespace {

PerfettoEvent described(const TraceEvent& event, const TraceDictionary& dictionary) {
  const TraceDictionary::Name& name = dictionary[event.name];
  PerfettoEvent result{.name = name.text, .category = name.category};
  if (event.flow != 0) {
    (event.last_of_flow ? result.ended_flows : result.flows).push_back(event.flow);
  }
  if (event.has_value) {
    result.annotations.push_back({.name = "value", .value = event.value});
  }
  return result;
}

}  // namespace

void TraceExport::write(std::span<const TraceEvent> events, const TraceDictionary& dictionary) {
  for (const TraceEvent& event : events) {
    write(event, dictionary);
  }
}

void TraceExport::write(const TraceEvent& event, const TraceDictionary& dictionary) {
  Thread& by = thread(event.thread, dictionary);
  switch (event.kind) {
    case TraceKind::kSpan:
      writer_.begin_slice(by.track, event.begin_ns, described(event, dictionary));
      writer_.end_slice(by.track, event.end_ns);
      break;
    case TraceKind::kBegin:
      writer_.begin_slice(by.track, event.begin_ns, described(event, dictionary));
      by.open.push_back(event.name);
      break;
    case TraceKind::kEnd:
      end(by, event);
      break;
    case TraceKind::kInstant:
      writer_.instant(by.track, event.begin_ns, described(event, dictionary));
      break;
    case TraceKind::kCounter: {
      auto found = counters_.find(event.name);
      if (found == counters_.end()) {
        const TraceDictionary::Name& name = dictionary[event.name];
        const PerfettoTrack track =
            writer_.add_counter_track(name.text, name.category, writer_.process_track());
        found = counters_.emplace(event.name, track).first;
      }
      writer_.counter(found->second, event.begin_ns, event.number);
      break;
    }
    case TraceKind::kDropped: {
      auto found = dropped_.find(event.thread);
      if (found == dropped_.end()) {
        const std::string name = dictionary[event.thread].name + ": dropped records";
        found = dropped_.emplace(event.thread, writer_.add_counter_track(name, "records", by.track))
                    .first;
      }
      writer_.counter(found->second, event.begin_ns, static_cast<double>(event.value));
      break;
    }
  }
}

void TraceExport::end(Thread& thread, const TraceEvent& event) {
  const auto innermost = std::find(thread.open.rbegin(), thread.open.rend(), event.name);
  if (innermost == thread.open.rend()) {
    return;
  }
  // The records that end the spans within it were lost.
  for (auto ended = innermost - thread.open.rbegin() + 1; ended > 0; --ended) {
    writer_.end_slice(thread.track, event.begin_ns);
    thread.open.pop_back();
  }
}

TraceExport::Thread& TraceExport::thread(TraceThread id, const TraceDictionary& dictionary) {
  auto found = threads_.find(id);
  if (found == threads_.end()) {
    const TraceDictionary::Thread thread = dictionary[id];
    found = threads_
                .emplace(id, Thread{.track = writer_.add_thread_track(thread.name, thread.tid),
                                    .open = {}})
                .first;
  }
  return found->second;
}

}  // namespace rclrt::realtime
