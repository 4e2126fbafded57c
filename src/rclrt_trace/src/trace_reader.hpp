// SPDX-License-Identifier: Apache-2.0
// Reads LTTng traces, event by event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "event_kinds.hpp"

namespace rclrt::trace {

/// An error in a trace, with its place and reason.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One event of kEventTypes. Its texts and lists are valid only during the call that gets the
/// event.
struct TraceEvent {
  EventKind kind{};
  std::int64_t time_ns = 0;  ///< CLOCK_MONOTONIC of the traced machine
  std::uint32_t space = 0;   ///< space in which the process id is unique: a machine or a container
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int32_t cpu = -1;                              ///< that recorded it; -1: not in the trace
  std::int64_t clock_offset_ns = 0;                   ///< the time of day at time 0; 0: not known
  std::string_view thread;                            ///< its name; empty: not in the trace
  std::array<std::uint64_t, kMostNumbers> numbers{};  ///< 0 where the event lacks the field
  std::array<std::string_view, kMostTexts> texts{};
  std::array<std::span<const std::uint64_t>, kMostLists> lists{};
  bool complete = true;  ///< it has every field
};

/// Counts of events, losses and damage in the traces that were read.
struct ReadCounts {
  std::uint64_t events = 0;  ///< all events
  std::uint64_t known = 0;   ///< events of kEventTypes
  std::uint64_t lost = 0;    ///< events that the tracer had no room for
  std::uint64_t lost_packets = 0;
  std::uint64_t early = 0;       ///< left out: other streams have overwritten events of that time
  std::uint64_t duplicates = 0;  ///< left out: also recorded by another session
  std::size_t traces = 0;        ///< directories that have a trace
  std::size_t cpus = 0;          ///< CPUs with events of nodes; 0: not in the trace
  std::vector<std::string> damage{};  ///< places where a stream is damaged, and the consequence
};

/// Calls `handle` for each event of all traces below `directory`, in order of time. Keeps only one
/// packet of each stream in memory. Leaves out damaged parts and lists them in the result. Throws
/// TraceError if there is no trace, if its metadata is damaged, or if its events do not have the
/// process id and the thread id.
ReadCounts read_trace(const std::filesystem::path& directory,
                      const std::function<void(const TraceEvent&)>& handle);

}  // namespace rclrt::trace
